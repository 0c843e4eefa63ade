/** None of the hostile commands runs: no request beyond discovery, no process, no file. */
import { chmodSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Kubectl, type KubectlOptions } from "../../../tools/kubectl/index.js";
import { type FakeServer, fakeServer, touched } from "../kubectl/fake-server.js";
import { ALWAYS, IN_DIAGNOSIS } from "./hostile.js";

const MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n";

let server: FakeServer;
let program: string;
beforeEach(async () => {
  server = await fakeServer();
  // A kubectl that leaves a trace when it is started at all.
  program = join(server.folder, "kubectl");
  writeFileSync(program, `#!/bin/sh\necho started > '${server.folder}/started'\n`);
  chmodSync(program, 0o700);
});
afterEach(() => server.close());

async function ranDespite(lines: readonly string[], options: Partial<KubectlOptions>): Promise<string[]> {
  const kubectl = new Kubectl({
    kubeconfig: server.kubeconfig,
    mode: "read-write",
    namespaces: ["shop"],
    kubectl: "builtin",
    program,
    now: () => 0,
    sleep: async () => {},
    ...options,
  });
  const files = readdirSync(server.folder);
  const ran: string[] = [];
  for (const line of lines) {
    const before = server.asked.length;
    const result = await kubectl.run(line.replaceAll("FOLDER", server.folder), { stdin: MANIFEST });
    const reached = touched({ ...server, asked: server.asked.slice(before) });
    const made = readdirSync(server.folder).filter((name) => !files.includes(name));
    for (const name of made) rmSync(join(server.folder, name), { recursive: true });
    if (result.code === 0 || reached.length > 0 || made.length > 0) {
      ran.push(
        `${JSON.stringify(line)}: code ${result.code}, requests ${reached.join(", ")}, files ${made.join(", ")}`,
      );
    } else if (result.stderr.trim().length < 15) ran.push(`${JSON.stringify(line)}: says only ${result.stderr}`);
  }
  await kubectl.close();
  return ran;
}

describe.each(["builtin", "native"] as const)("%s kubectl", (kubectl) => {
  it.each(["read-only", "read-write"] as const)("runs none of the hostile commands, %s", async (mode) => {
    expect(await ranDespite(ALWAYS, { kubectl, mode })).toEqual([]);
  });

  it("changes nothing in a diagnosis", async () => {
    expect(await ranDespite(IN_DIAGNOSIS, { kubectl, mode: "read-only" })).toEqual([]);
  });
});

it("there are at least 200, each once", () => {
  const all = [...ALWAYS, ...IN_DIAGNOSIS];
  expect(all.length).toBeGreaterThanOrEqual(200);
  expect(new Set(all).size).toBe(all.length);
});
