/** Values of Secrets are in no observation: every output form, every verb that prints an object, raw paths, filters. */
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Kubectl } from "../../../tools/kubectl/index.js";
import type { FakeServer } from "../kubectl/fake-server.js";
import { kubectlOf, SECRET_TEXT, secretServer, VALUE } from "../kubectl/secret-server.js";

const MANIFEST = `apiVersion: v1
kind: Secret
metadata: {name: creds, namespace: shop}
stringData: {plain: hunter2}
data: {password: ${VALUE}}
`;

const LINES = [
  "get secret creds -o yaml",
  "get secrets -A -o json",
  "get secret,pods -o yaml",
  "get pods,secret -o json",
  "get secret creds -o jsonpath-as-json='{.data}'",
  "get secret creds -o jsonpath='{..password}'",
  "get secret creds -o jsonpath='{@}'",
  "get secret creds -o jsonpath='{.metadata.annotations}'",
  "get secret creds -o go-template='{{range $k,$v := .data}}{{$v}}{{end}}'",
  "get secret creds -o template --template='{{index .data \"password\"}}'",
  "get secret creds -o custom-columns='A:.data,B:.stringData'",
  "get secret creds -o jsonpath='{.stringData.plain}'",
  "get -f - -o yaml",
  "get secret creds --show-managed-fields -o yaml",
  "get secrets.v1. creds -o yaml",
  "get Secret creds -o json",
  "get secret -o jsonpath='{range .items[*]}{.data.password}{end}'",
  "get secret creds -o jsonpath='{.items[*]}{.data}'",
  "get secrets -L data",
  "get secret creds --subresource=status -o yaml",
  "get --raw /api/v1/secrets",
  "get --raw '/api/v1/namespaces/shop/secrets/creds?pretty=true'",
  "get --raw /api/v1//namespaces/shop/secrets/creds",
  "get --raw '/api/v1/namespaces/shop/pods/../secrets/creds'",
  "apply -f - -o yaml",
  "apply -f - --dry-run=client -o yaml",
  "apply -f - --dry-run=server -o json",
  "apply --server-side -f - -o yaml",
  "replace -f - -o yaml",
  "create -f - -o yaml",
  "create -f - --dry-run=client -o yaml",
  "create secret generic creds --from-literal=password=hunter2 -o yaml",
  "create secret generic creds --from-literal=password=hunter2 --dry-run=client -o yaml",
  "create secret generic creds --from-literal=password=hunter2 --dry-run=client -o jsonpath='{.data}'",
  'patch secret creds -p \'{"data":{"x":"eA=="}}\' -o jsonpath=\'{.data.password}\'',
  "label secret creds a=b --dry-run=client -o yaml",
  "label -f - a=b --local -o yaml",
  "annotate -f - a=b --local -o yaml",
  "apply view-last-applied secret creds",
  "apply view-last-applied secret creds -o json",
  "apply view-last-applied -f -",
  "delete secret creds -o name",
  "wait secret/creds --for=jsonpath='{.data.password}'=x --timeout=1s",
  "wait secret/creds --for=jsonpath='{.data.password}' -o yaml",
  "describe secret creds",
  "get secret creds -o json | jq -r '.data|map_values(@base64d)'",
  "get secret creds -o yaml | grep password",
  "get secrets --sort-by='{.data.password}' -o yaml",
  "set env --from=secret/creds deploy/x --dry-run=client -o yaml",
  "events --for=secret/creds",
  "get secret creds -o jsonpath='{.data.nothere[0]}' --allow-missing-template-keys=false",
  "get secret creds -o go-template='{{.data.password.x.y}}'",
  "get secret creds -o go-template='{{printf \"%d\" .data}}'",
];

let server: FakeServer;
let kubectl: Kubectl;
beforeEach(async () => {
  server = await secretServer("Opaque");
  kubectl = kubectlOf(server);
});
afterEach(async () => {
  await kubectl.close();
  await server.close();
});

it.each(LINES)("kubectl %s", async (line) => {
  const { stdout, stderr } = await kubectl.run(`kubectl ${line}`, { stdin: MANIFEST });
  expect(stdout + stderr).not.toMatch(SECRET_TEXT);
  expect((stdout + stderr).trim()).not.toBe("");
});
