import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createNl2Kubectl } from "../../../tools/index.js";
import { findingTexts } from "../../../tools/lint/finding.js";
import { isCommand, readKubectlQuery } from "../../../tools/nl2kubectl/generate.js";
import { createKubectlLint } from "../../../tools/nl2kubectl/lint.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let server: TestServer | undefined;
let folder: string | undefined;
afterEach(async () => {
  await server?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
  server = undefined;
  folder = undefined;
});

/** A server that knows its version only; enough to see what reaches it. */
async function cluster() {
  server = await serve(({ url }, response) => {
    if (url.pathname === "/version") return json(response, { major: "1", minor: "34", gitVersion: "v1.34.2" });
    return json(
      response,
      { kind: "Status", status: "Failure", reason: "NotFound", code: 404, message: "not found" },
      404,
    );
  });
  folder = mkdtempSync(join(tmpdir(), "itbench-kubectl-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      clusters: [{ name: "k", cluster: { server: server.url } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    }),
  );
  return kubeconfig;
}

describe("nl2kubectl", () => {
  it.each([
    { input: { command: "kubectl version" }, asked: 0 },
    { input: { question: "kubectl version" }, asked: 0 },
    { input: { question: "which version is it?" }, asked: 1 },
  ])("$input: a nested call only for a question", async ({ input, asked }) => {
    const ends: (() => Promise<void>)[] = [];
    const kubeconfig = await cluster();
    const context = toolContext("http://127.0.0.1:9", ["```bash\nkubectl version\n```"], {
      onEnd: (end) => void ends.push(end),
    });
    context.endpoints.kubeconfig = kubeconfig;
    const text = await createNl2Kubectl(context).invoke(input);
    expect(text).toContain("Server Version: v1.34.2");
    expect(text.startsWith("$ kubectl version\n")).toBe(asked > 0);
    expect(context.asked).toHaveLength(asked);
    await Promise.all(ends.map((end) => end()));
  });

  it("nothing that a shell would run is run, and nothing is written in diagnosis", async () => {
    const kubeconfig = await cluster();
    for (const command of [
      "kubectl get pods; touch x",
      "kubectl get pods $(touch x)",
      "kubectl get pods `touch x`",
      "kubectl get pods --kubeconfig=/etc/passwd",
      "kubectl exec -it cart -- sh",
      "kubectl delete ns shop",
      "kubectl scale deployment cart --replicas=0 -n shop",
    ]) {
      const context = toolContext("http://127.0.0.1:9", []);
      context.endpoints.kubeconfig = kubeconfig;
      await expect(createNl2Kubectl(context).invoke({ command })).rejects.toThrow(/refused|not|only/);
      // A question that carries a command is no way around.
      const hidden = toolContext("http://127.0.0.1:9", [`\`\`\`\n${command}\n\`\`\``]);
      hidden.endpoints.kubeconfig = kubeconfig;
      await expect(createNl2Kubectl(hidden).invoke({ question: "please" })).rejects.toThrow();
    }
    expect(server!.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});

describe("readKubectlQuery", () => {
  const patch = `kubectl patch svc cart -n shop -p '{"spec":\n {"a": 1}}'`;
  it.each([
    ["```bash\nkubectl get pods -n shop\n```", "kubectl get pods -n shop"],
    ["```\n$ kubectl get pods -n shop\n```", "kubectl get pods -n shop"],
    ["You can use:\n\n`kubectl get pods -n shop`\n\nIt lists the pods.", "kubectl get pods -n shop"],
    ["kubectl get pods \\\n  -n shop \\\n  -o wide", "kubectl get pods -n shop -o wide"],
    ['{"command": "kubectl get pods -n shop"}', "kubectl get pods -n shop"],
    [`\`\`\`bash\n${patch}\n\`\`\``, patch],
    ["```bash\n# list\nkubectl get pods\nkubectl get svc\n```", "kubectl get pods"],
    ["kubectl get pods -n shop | grep cart | head -3", "kubectl get pods -n shop | grep cart | head -3"],
  ])("%j", (answer, command) => expect(readKubectlQuery(answer).command).toBe(command));

  it("takes a manifest from its own fence", () => {
    const answer = "```bash\nkubectl apply -n shop -f -\n```\n```yaml\nkind: Service\nmetadata: {name: a}\n```";
    expect(readKubectlQuery(answer)).toEqual({
      command: "kubectl apply -n shop -f -",
      manifest: "kind: Service\nmetadata: {name: a}",
    });
  });

  it("refuses what holds no command", () => expect(() => readKubectlQuery("The pods are fine.")).toThrow("no command"));

  it.each([
    ["kubectl get pods", true],
    ["$ kubectl get pods", true],
    ["kubectl", false],
    ["What does kubectl get pods say?", false],
  ])("isCommand(%j) is %s", (text, is) => expect(isCommand(text)).toBe(is));
});

describe("the linter", () => {
  it.each([
    { command: "kubectl get pods -n shop", finding: undefined },
    { command: "kubectl get nodes", finding: undefined },
    { command: "kubectl describe pod <pod-name> -n shop", finding: "placeholder" },
    { command: "kubectl get pods -n shop && ls", finding: "one command at a time" },
    { command: "kubectl exec -it cart -n shop -- sh", finding: "kubectl exec" },
    { command: "kubectl delete pod cart -n shop", finding: /read/ },
  ])("$command, with no server to ask", async ({ command, finding }) => {
    const findings = findingTexts(await createKubectlLint(toolContext("http://127.0.0.1:9"))({ command }));
    if (finding === undefined) expect(findings).toEqual([]);
    else expect(findings.join("\n")).toMatch(finding);
  });

  it("asks for a manifest that is read but not there", async () => {
    const lint = createKubectlLint(toolContext("http://127.0.0.1:9", [], { writes: true }));
    const command = "kubectl apply -n shop -f -";
    expect(findingTexts(await lint({ command }))).toEqual([expect.stringContaining("manifest")]);
    expect(await lint({ command, manifest: "kind: Service" })).toEqual([]);
  });
});
