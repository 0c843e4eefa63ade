/** A command that names no namespace looks in the kubeconfig's own: a finding only where that is sure to be in vain. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { KubectlLinter } from "../../../tools/kubectl/index.js";
import { type FakeServer, fakeServer } from "../kubectl/fake-server.js";

let server: FakeServer;
afterEach(() => server.close());

const pod = (name: string, namespace: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace },
  spec: { containers: [{ name: "c" }] },
});
const list = (...items: object[]) => ({ apiVersion: "v1", kind: "PodList", items });

it.each<[string, object[], RegExp | undefined]>([
  ["kubectl get pods", [], /"default" has no pods: add -n shop, or -A/],
  ["kubectl get pods -o wide", [], /add -n shop/],
  ["kubectl get pods", [pod("other", "default")], undefined],
  ["kubectl get pods -n shop", [], undefined],
  ["kubectl get pods -A", [], undefined],
  ["kubectl get nodes", [], undefined],
  ["kubectl describe pod cart", [], /"default" has no pods "cart": add -n shop/],
  ["kubectl logs cart", [], /has no pods "cart": add -n shop/],
  // Nowhere to be found: the cluster's own answer says so.
  ["kubectl get pod gone", [], undefined],
  ["kubectl get configmaps", [], undefined],
])("%s, default holds %j", async (command, inDefault, says) => {
  server = await fakeServer({
    "GET /api/v1/namespaces/default/pods": list(...inDefault),
    "GET /api/v1/namespaces/shop/pods": list(pod("cart", "shop")),
    "GET /api/v1/namespaces/shop/pods/cart": pod("cart", "shop"),
    "GET /api/v1/namespaces/shop": { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
  });
  const address = server.kubeconfig;
  const other = JSON.parse(readFileSync(address, "utf8"));
  delete other.contexts[0].context.namespace;
  const kubeconfig = `${address}-without-namespace`;
  writeFileSync(kubeconfig, JSON.stringify(other));
  const linter = new KubectlLinter({ kubeconfig, mode: "read-only", namespaces: ["shop"], now: () => 0 });
  const findings = (await linter.lint(command)).map(({ message }) => message).join("\n");
  await linter.close();
  rmSync(kubeconfig);
  if (says === undefined) expect(findings).toBe("");
  else expect(findings).toMatch(says);
});
