/** What runbooks say runs on the simulated cluster. The cluster may turn a command down; the guard must not. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Kubectl } from "../../../tools/kubectl/index.js";
import { type LintEnvironment, lintEnvironment } from "../lint/environment.js";

const read = (file: string) =>
  readFileSync(new URL(file, import.meta.url), "utf8")
    .trim()
    .split("\n");
const LINES = [...read("runbook-kubectl.txt"), ...read("../lint/valid-kubectl.txt").slice(0, 150)];
const MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes, namespace: otel-demo}\ndata: {a: b}\n";

let lint: LintEnvironment;
beforeAll(async () => {
  lint = await lintEnvironment();
});
afterAll(() => lint.stop());

it("none of them is refused", async () => {
  expect(LINES.length).toBeGreaterThan(200);
  const kubectl = new Kubectl({
    kubeconfig: lint.context.endpoints.kubeconfig,
    mode: "read-write",
    namespaces: ["otel-demo"],
    kubectl: "builtin",
    now: () => lint.environment.clock.now(),
    sleep: async () => {},
  });
  const refused: string[] = [];
  const failed: string[] = [];
  for (const line of LINES) {
    const result = await kubectl.run(lint.withPods(line), { stdin: MANIFEST });
    if (result.refused) refused.push(`${line}: ${result.stderr}`);
    // A misreading of the command line, as opposed to an answer of the cluster.
    if (/unknown (shorthand )?flag|unknown command|not available/.test(result.stderr))
      failed.push(`${line}: ${result.stderr}`);
  }
  await kubectl.close();
  expect(refused).toEqual([]);
  expect(failed).toEqual([]);
}, 120_000);
