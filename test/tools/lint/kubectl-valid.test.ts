/** The kubectl linter is silent on what can run. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findingText } from "../../../tools/lint/finding.js";
import { createKubectlLint } from "../../../tools/nl2kubectl/lint.js";
import { type LintEnvironment, lintEnvironment } from "./environment.js";

const VALID = readFileSync(new URL("valid-kubectl.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
const MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes, namespace: otel-demo}\ndata: {a: b}\n";

let lint: LintEnvironment;
beforeAll(async () => {
  lint = await lintEnvironment();
});
afterAll(() => lint.stop());

it("has no false alarm on 500 valid commands, and changes nothing", async () => {
  expect(VALID.length).toBeGreaterThanOrEqual(500);
  const check = createKubectlLint(lint.context);
  const before = await generations();
  const alarms: string[] = [];
  for (const line of VALID) {
    const command = lint.withPods(line);
    const findings = await check({ command, ...(line.includes("-f -") ? { manifest: MANIFEST } : {}) });
    for (const finding of findings) alarms.push(`${command}\n    ${findingText(finding)}`);
  }
  expect(alarms).toEqual([]);
  expect(await generations()).toBe(before);
}, 120_000);

/** Names, generations, labels and annotations of everything that the commands speak of. */
async function generations(): Promise<string> {
  const { Kubectl } = await import("../../../tools/kubectl/index.js");
  const kubectl = new Kubectl({
    kubeconfig: lint.context.endpoints.kubeconfig,
    mode: "read-only",
    kubectl: "builtin",
    now: () => lint.environment.clock.now(),
    sleep: async () => {},
  });
  const columns =
    "KIND:.kind,NAME:.metadata.name,GEN:.metadata.generation,VERSION:.metadata.resourceVersion,TAINTS:.spec.taints";
  const { stdout, stderr } = await kubectl.run(
    `kubectl get deploy,ds,svc,cm,secret,hpa,pdb,quota,ingress,job,cronjob,sa,role,rolebinding,pod -n otel-demo -o custom-columns=${columns}`,
  );
  await kubectl.close();
  expect(stderr).toBe("");
  return stdout;
}
