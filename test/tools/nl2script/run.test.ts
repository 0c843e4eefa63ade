import { afterEach, describe, expect, it } from "vitest";
import { createNl2Script } from "../../../tools/nl2script/index.js";
import { parseScript } from "../../../tools/nl2script/parse.js";
import { runScript } from "../../../tools/nl2script/run.js";
import { deployment, type FakeCluster, fakeCluster } from "../../support/fake-cluster.js";
import { toolContext } from "../../support/tool-context.js";

type Result = { stdout?: string; stderr?: string; code?: number; refused?: true };

/** Runs a script against commands that a function answers; also gives the command lines. */
async function run(script: string, answer: (line: string) => Result): Promise<{ text: string; lines: string[] }> {
  const lines: string[] = [];
  const text = await runScript(parseScript(script), async (line) => {
    lines.push(line);
    return { stdout: "", stderr: "", code: 0, ...answer(line) };
  });
  return { text, lines };
}

const echo = (line: string): Result => ({ stdout: `<${line.slice(8)}>\n` });

describe("runScript", () => {
  it("runs one after the other, and shows each with its output", async () => {
    expect((await run("kubectl a\necho and $ then\nkubectl b", echo)).text).toBe(
      "$ kubectl a\n<a>\nand $ then\n$ kubectl b\n<b>",
    );
  });

  it("goes through what a command gives, and keeps that out of sight", async () => {
    const { text, lines } = await run(
      'for p in $(kubectl get -o name); do echo "== $p"; kubectl logs "$p" | grep x; done',
      (line) => (line.includes("-o name") ? { stdout: "pod/a\npod/b\n" } : echo(line)),
    );
    expect(lines).toEqual(["kubectl get -o name", "kubectl logs pod/a | grep x", "kubectl logs pod/b | grep x"]);
    expect(text).toBe(
      "== pod/a\n$ kubectl logs pod/a | grep x\n<logs pod/a | grep x>\n== pod/b\n$ kubectl logs pod/b | grep x\n<logs pod/b | grep x>",
    );
  });

  it.each<[string, string, string[]]>([
    ["splits a bare variable", "x=$(kubectl l); kubectl get $x", ["kubectl get a b"]],
    ["does not split a quoted one", 'x=$(kubectl l); kubectl get "$x"', ["kubectl get 'a b'"]],
    ["does not split inside a word", "x=$(kubectl l); kubectl get p-$x", ["kubectl get 'p-a b'"]],
    ["leaves out one that is empty", "x=; kubectl get $x", ["kubectl get"]],
    [
      "goes through a variable",
      "x=$(kubectl l); for y in $x; do kubectl get $y; done",
      ["kubectl get a", "kubectl get b"],
    ],
  ])("%s", async (_name, script, expected) => {
    const { lines } = await run(script, (line) => (line === "kubectl l" ? { stdout: "a b\n" } : {}));
    expect(lines.filter((line) => line !== "kubectl l")).toEqual(expected);
  });

  it.each([
    ["; rm -rf /", "kubectl get ';' rm -rf /"],
    ["$(kubectl delete ns shop)", "kubectl get '$(kubectl' delete ns 'shop)'"],
    ["a|sh", "kubectl get 'a|sh'"],
    ["--kubeconfig=/x", "kubectl get --kubeconfig=/x"],
    ["it's", "kubectl get 'it'\\''s'"],
    ["$y", "kubectl get '$y'"],
  ])("what a command gives is never read as script: %s", async (value, line) => {
    const { lines } = await run("x=$(kubectl l); kubectl get $x", (one) =>
      one === "kubectl l" ? { stdout: value } : {},
    );
    expect(lines[1]).toBe(line);
  });

  it("shows an error and goes on", async () => {
    const { text } = await run("kubectl a\nkubectl b", (line) =>
      line === "kubectl a" ? { stderr: "not found\n", code: 1 } : echo(line),
    );
    expect(text).toBe("$ kubectl a\nnot found\n$ kubectl b\n<b>");
  });

  it("shows why a list is empty", async () => {
    const { text } = await run("for x in $(kubectl a); do kubectl b; done", () => ({ stderr: "No resources found\n" }));
    expect(text).toBe("$ kubectl a\nNo resources found\n(for x: the list is empty, so nothing was run)");
  });

  it("fails when every command failed", async () => {
    await expect(run("kubectl a\nkubectl b", () => ({ stderr: "no\n", code: 1 }))).rejects.toThrow(
      "$ kubectl a\nno\n$ kubectl b\nno",
    );
  });

  it("a filter that matches nothing is an answer", async () => {
    expect((await run("kubectl a | grep x", () => ({ code: 1 }))).text).toBe("$ kubectl a | grep x\n(no output)");
  });

  it("ends at the first refusal, with what was run before", async () => {
    await expect(
      run("kubectl a\nkubectl b\nkubectl c", (line) =>
        line === "kubectl b" ? { stderr: "refused: no\n", code: 1, refused: true } : echo(line),
      ),
    ).rejects.toThrow("$ kubectl a\n<a>\n$ kubectl b\nrefused: no");
  });

  it("is bounded in commands", async () => {
    const many = Array.from({ length: 500 }, (_, i) => `p${i}`).join("\n");
    const { text, lines } = await run("for x in $(kubectl l); do kubectl get $x; done", (line) =>
      line === "kubectl l" ? { stdout: many } : echo(line),
    );
    expect(lines).toHaveLength(60);
    expect(text).toContain("[stopped: a script runs at most 60 commands; narrow its lists]");
  });

  it("is bounded in output, of one command and of all", async () => {
    const { text } = await run("kubectl a", () => ({ stdout: "x\n".repeat(1_000_000) }));
    expect(text.length).toBeLessThan(40_000);
    expect(text).toContain("bytes left out; filter with | grep");
    const all = await run("for x in 1 2 3 4 5 6 7 8 9 10 11 12; do kubectl a; done", () => ({
      stdout: "y".repeat(100_000),
    }));
    expect(all.text.length).toBeLessThan(300_000);
    expect(all.text).toContain("[stopped: the output is longer than 256 KiB]");
  });
});

describe("nl2script", () => {
  let cluster: FakeCluster | undefined;
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
    await cluster?.close();
  });

  async function tool(answers: string[] = [], writes = false, mode: "nl2x" | "direct" = "nl2x") {
    cluster = await fakeCluster([deployment("cart"), deployment("db")]);
    const context = toolContext("http://127.0.0.1:9", answers, { writes, mode, onEnd: (end) => void ends.push(end) });
    context.endpoints.kubeconfig = cluster.kubeconfig;
    return { tool: createNl2Script(context), context };
  }

  it("runs a script through the agents' kubectl", async () => {
    const { tool: script } = await tool();
    const text = await script.invoke({
      script:
        "for d in $(kubectl get deployments -n shop -o name); do echo $d; done\nkubectl get nope -n shop | grep x",
    });
    expect(text).toBe(
      'deployment.apps/cart\ndeployment.apps/db\n$ kubectl get nope -n shop | grep x\nerror: the server doesn\'t have a resource type "nope"',
    );
  });

  it("has a question written as a script", async () => {
    const { tool: script, context } = await tool(["```bash\nkubectl get deployments -n shop -o name | wc -l\n```"]);
    expect(await script.invoke({ question: "how many deployments?" })).toBe(
      "$ kubectl get deployments -n shop -o name | wc -l\n2",
    );
    expect(context.asked[0]).toContain("how many deployments?");
  });

  it.each([
    ["kubectl get deployments -n shop -o name\nkubectl delete deploy cart -n shop", "only reading is allowed now"],
    ["kubectl get deployments -n shop -o name\nrm -rf /", "only kubectl can be run here"],
  ])("runs nothing of a script that holds what is refused: %j", async (text, why) => {
    const { tool: script } = await tool();
    await expect(script.invoke({ script: text })).rejects.toThrow(why);
    expect(cluster!.requests).toEqual([]);
  });

  it("refuses at run time what only then is known", async () => {
    const { tool: script } = await tool([], true);
    await expect(
      script.invoke({ script: "ns=other\nfor d in cart; do kubectl delete deploy $d -n $ns; done" }),
    ).rejects.toThrow("writes are allowed only in shop");
    const { tool: reading } = await tool();
    await expect(reading.invoke({ script: "v=delete; kubectl $v deploy cart -n shop" })).rejects.toThrow(
      "only reading is allowed now",
    );
    expect(cluster!.requests.filter((one) => one.method !== "GET")).toEqual([]);
  });

  it("takes only scripts in direct mode, and wants something at all", async () => {
    const { tool: direct } = await tool([], false, "direct");
    await expect(direct.invoke({ question: "x" } as any)).rejects.toThrow();
    const { tool: both } = await tool();
    await expect(both.invoke({})).rejects.toThrow('give "question" (plain words) or "script"');
  });
});
