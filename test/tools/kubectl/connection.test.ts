import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Kubectl } from "../../../tools/kubectl/index.js";
import { type FakeServer, fakeServer } from "./fake-server.js";

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer({
    "GET /api/v1/namespaces/shop/pods/x": { apiVersion: "v1", kind: "Pod", metadata: { name: "x" } },
  });
});
afterEach(() => server.close());

async function get(
  change: (config: any) => void,
): Promise<{ authorization: string | undefined; stdout: string; stderr: string }> {
  const config = JSON.parse(readFileSync(server.kubeconfig, "utf8"));
  change(config);
  const kubeconfig = join(server.folder, "changed");
  writeFileSync(kubeconfig, JSON.stringify(config));
  const kubectl = new Kubectl({
    kubeconfig,
    mode: "read-only",
    kubectl: "builtin",
    now: () => 0,
    sleep: async () => {},
  });
  const { stdout, stderr } = await kubectl.run("kubectl get pod x -o name");
  await kubectl.close();
  return { authorization: server.asked.at(-1)?.authorization, stdout, stderr };
}

it("sends a token, a token of a file, or a name and password", async () => {
  expect(await get(() => {})).toMatchObject({ authorization: "Bearer the-token", stdout: "pod/x\n", stderr: "" });
  writeFileSync(join(server.folder, "token"), "from-file\n");
  expect(
    await get((c) => {
      c.users[0].user = { tokenFile: "token" };
    }),
  ).toMatchObject({ authorization: "Bearer from-file" });
  expect(
    await get((c) => {
      c.users[0].user = { username: "a", password: "b" };
    }),
  ).toMatchObject({ authorization: "Basic YTpi" });
});

it.skipIf(process.platform === "win32")("leaves credential plugins to the client library", async () => {
  const plugin = join(server.folder, "plugin");
  writeFileSync(
    plugin,
    `#!/bin/sh\necho '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"from-plugin"}}'\n`,
  );
  chmodSync(plugin, 0o755);
  const result = await get((c) => {
    c.clusters[0].cluster["insecure-skip-tls-verify"] = true;
    c.users[0].user = {
      exec: { apiVersion: "client.authentication.k8s.io/v1", command: plugin, interactiveMode: "Never" },
    };
  });
  expect(result).toMatchObject({ authorization: "Bearer from-plugin", stdout: "pod/x\n" });
});

it("says what is wrong with a kubeconfig, and that nobody answers", async () => {
  expect(
    (
      await get((c) => {
        c["current-context"] = "other";
      })
    ).stderr,
  ).toMatch(/names no server for its current context/);
  expect(
    (
      await get((c) => {
        c.clusters[0].cluster.server = "http://127.0.0.1:9";
      })
    ).stderr,
  ).toBe("The connection to the server 127.0.0.1:9 was refused - did you specify the right host or port?\n");
  const kubectl = new Kubectl({
    kubeconfig: "/nonexistent",
    mode: "read-only",
    kubectl: "builtin",
    now: () => 0,
    sleep: async () => {},
  });
  expect((await kubectl.run("kubectl get pods")).stderr).toMatch(/error loading config file "\/nonexistent"/);
});
