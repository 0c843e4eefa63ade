/** Values of Secrets are in no output, whatever the format. */
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Kubectl } from "../../../tools/kubectl/index.js";
import { type FakeServer, fakeServer } from "./fake-server.js";
import { kubectlOf, SECRET_PATH, SECRET_TEXT, secretOf, secretServer, VALUE } from "./secret-server.js";

/** `describe` of this type shows the token. */
const TYPE = "kubernetes.io/service-account-token";

let server: FakeServer;
let kubectl: Kubectl;
beforeEach(async () => {
  server = await secretServer(TYPE);
  kubectl = kubectlOf(server);
});
afterEach(async () => {
  await kubectl.close();
  await server.close();
});

it.each([
  "get secret creds -o yaml",
  "get secret creds -o json",
  "get secrets -o yaml",
  "get secrets -o json | jq -r '.items[].data.password'",
  "get secret/creds -o jsonpath={.data.password}",
  "get secret creds -o jsonpath={.data}",
  "get secret creds -o jsonpath={}",
  "get secret creds -o jsonpath='{.data.password[0].x}'",
  "get secrets -o jsonpath='{.items[*].data}'",
  "get secrets -o custom-columns=P:.data.password",
  "get secret creds -o go-template='{{.data.password | base64decode}}'",
  "get secret creds -o go-template='{{.data}}'",
  "get --raw /api/v1/namespaces/shop/secrets/creds",
  "get --raw /api/v1/namespaces/shop/secrets",
  "get --raw /api/v1/namespaces/shop/%73ecrets/creds",
  "get secrets",
  "get secrets -o wide --show-labels",
  "get secrets --sort-by=.data.password",
  "describe secret creds",
  "describe secrets",
  "label secret creds a=b -o yaml",
  "annotate secret creds a=b -o json",
  `patch secret creds -p '{"data":{"x":"eA=="}}' -o yaml`,
  "apply view-last-applied secret creds",
])("masks them in: %s", async (line) => {
  const { stdout, stderr } = await kubectl.run(`kubectl ${line}`);
  expect(stdout + stderr).not.toMatch(SECRET_TEXT);
});

it("masks them in the server's complaint about one", async () => {
  const broken = await fakeServer({});
  try {
    const own = kubectlOf(broken);
    broken.answers.set(`GET ${SECRET_PATH}`, { status: 200, body: secretOf(TYPE) });
    broken.answers.set(`PATCH ${SECRET_PATH}`, {
      status: 422,
      body: {
        kind: "Status",
        reason: "Invalid",
        code: 422,
        message: `patch: Invalid value: "{\\"data\\":{\\"a\\":\\"${VALUE}\\"}}": cannot restore`,
        details: {
          causes: [
            { field: "patch", message: `Invalid value: "{\\"data\\":{\\"a\\":\\"${VALUE}\\"}}": cannot restore` },
          ],
        },
      },
    });
    const { stderr } = await own.run(`kubectl patch secret creds -p '{"data":5}'`);
    expect(stderr).toContain('Invalid value: "<masked>": cannot restore');
    expect(stderr).not.toContain(VALUE);
    await own.close();
  } finally {
    await broken.close();
  }
});

it("says that there is something, and how much", async () => {
  expect((await kubectl.run("kubectl get secret creds -o jsonpath={.data.password}")).stdout).toBe("<masked>");
  expect((await kubectl.run("kubectl describe secret creds")).stdout).toContain("password:  7 bytes");
});
