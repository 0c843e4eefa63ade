import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { TestServer } from "../../support/http.js";
import { closedPort } from "../../support/http.js";
import { baseUrlOf, serveModel, type WireTurn } from "../../support/wire-model.js";
import { cli, startCli } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "itbench-cli-models-"));
afterAll(() => rmSync(folder, { recursive: true }));
let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const modelsFile = join(folder, "models.yaml");
writeFileSync(
  modelsFile,
  "models: {ours: {provider: openai, model: big, base_url: 'http://127.0.0.1:9/v1', price: {input: 1, output: 2}, context_window: 8000}}",
);

async function at(turns: readonly WireTurn[]): Promise<string[]> {
  server = await serveModel("openai", turns);
  return ["--model", "openai:m", "--base-url", baseUrlOf("openai", server)];
}

describe("itbench models", () => {
  it("lists what the models file names, and what can be named without it", async () => {
    const { out, code } = await cli(["models", "list", "--models-file", modelsFile], {
      env: { HOME: folder, OPENAI_API_KEY: "never-shown" },
    });
    expect(code).toBe(0);
    expect(out).toMatch(/ours +openai:big +http:\/\/127\.0\.0\.1:9\/v1 +8000 +1 \/ 2/);
    for (const text of [
      "playbook",
      "human",
      "replay:<file>",
      "ollama:<model>",
      "OPENAI_API_KEY (set)",
      "@langchain/anthropic",
    ]) {
      expect(out).toContain(text);
    }
    expect(out).not.toContain("never-shown");
    const json = JSON.parse((await cli(["models", "list", "--models-file", modelsFile, "--json"])).out);
    expect(json.models).toMatchObject([{ name: "ours", context_window: 8000 }]);
  });

  it("checks one: what works, and how to run it", async () => {
    server = await serveModel("openai", [
      ({ body }) => (body.tools ? { content: "no" } : { content: '{"city": "Paris", "population": 2}' }),
    ]);
    const url = baseUrlOf("openai", server);
    const { out, code } = await cli(["models", "check", "openai:m", "--base-url", url]);
    expect(code).toBe(0);
    expect(out).toMatch(/✗ +tool call +it answered in text: no/);
    expect(out).toMatch(/✓ +structured output/);
    expect(out).toContain("Run it with --protocol json-action; also: react-text");
  });

  it("fails on one that is not there, and refuses names that lead nowhere", async () => {
    const gone = await cli(["models", "check", "ollama:m", "--base-url", await closedPort(), "--json"], {
      env: { ITBENCH_RETRIES: "0" },
    });
    expect(gone.code).toBe(1);
    expect(JSON.parse(gone.out).checks[0]).toMatchObject({
      ok: false,
      detail: expect.stringContaining("cannot reach"),
    });
    expect((await cli(["models", "check", "nope:m"])).code).toBe(2);
  }, 60_000);
});

describe("itbench run", () => {
  const base = ["run", "--scenario", "sre-24"];
  it.each<[string, string[], RegExp]>([
    ["a text protocol for the playbook", ["--protocol", "react-text"], /playbook is no LLM.*leave --protocol out/],
    ["a text protocol for a person", ["--model", "human", "--protocol", "json-action"], /human is no LLM/],
    ["a limit of cost without a price", ["--model", "ollama:m", "--max-cost", "1"], /price of ollama:m is unknown/],
    ["several people at one terminal", ["--model", "human", "--concurrency", "2"], /one trial at a time/],
    ["a recording that is not there", ["--model", "replay:/nowhere/at/all"], /cannot be read/],
    ["an address that is none", ["--model", "openai:m", "--base-url", "gpu:8000"], /must be an address/],
  ])("refuses %s", async (_name, args, says) => {
    const { code, err } = await cli([...base, "--out", join(folder, "refused"), ...args]);
    expect(code).toBe(2);
    expect(err).toMatch(says);
    expect(existsSync(join(folder, "refused"))).toBe(false);
  });

  it.each<[string, string, RegExp]>([
    ["a file", modelsFile, /models\.yaml is a file: give a folder with --out/],
    ["a folder inside a file", join(modelsFile, "run"), /cannot be written: .*give another folder with --out/],
  ])("refuses %s as the run folder", async (_name, out, says) => {
    const { code, err } = await cli([...base, "--out", out]);
    expect(code).toBe(2);
    expect(err).toMatch(says);
  });

  it("records, and plays again to the same transcript", async () => {
    const recording = join(folder, "recording.jsonl");
    const transcript = (name: string) =>
      readFileSync(join(folder, name, "trials", "sre-24", "1", "transcript.jsonl"), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => ({ ...JSON.parse(line), time: 0, model: "" }));
    const live = await cli([...base, "--out", join(folder, "live"), "--record", recording]);
    expect(live.code).toBe(0);
    const replayed = await cli([...base, "--out", join(folder, "again"), "--model", `replay:${recording}`]);
    expect(replayed.code).toBe(0);
    expect(transcript("again")).toEqual(transcript("live"));
    const twice = await cli([...base, "--out", join(folder, "twice"), "--record", recording]);
    expect(twice).toMatchObject({ code: 2, err: expect.stringContaining("holds something already") });
  }, 60_000);

  it("leaves examples out of prompts with --no-examples", async () => {
    const where = await at([{ content: "no" }]);
    await cli([...base, ...where, "--out", join(folder, "plain"), "--protocol", "json-action", "--no-examples"]);
    const without = server!.requests[0]!.body.messages[0].content as string;
    await server!.close();
    const again = await at([{ content: "no" }]);
    await cli([...base, ...again, "--out", join(folder, "with"), "--protocol", "json-action"]);
    const withExamples = server!.requests[0]!.body.messages[0].content as string;
    expect(withExamples.length).toBeGreaterThan(without.length);
    expect(withExamples).toContain("Example");
    expect(without).not.toContain("Example:");
  }, 60_000);
});

describe("itbench chat", () => {
  const pods = {
    calls: [{ name: "nl2kubectl", args: { question: "pods", command: "kubectl get pods -n otel-demo" } }],
  };

  it("answers questions about a scenario with what its tools show, and remembers what was said", async () => {
    const where = await at([pods, { content: "All pods run." }, { content: "As I said: all run." }]);
    const { out, err, code } = await cli(["chat", "--scenario", "sre-24", "--no-inject", ...where], {
      input: ["how are the pods?", "and now?", ""],
    });
    expect(code).toBe(0);
    expect(out).toContain("All pods run.\n");
    expect(out).toContain("As I said: all run.\n");
    expect(err).toContain("The agent only looks");
    expect(err).toMatch(/nl2kubectl .*kubectl get pods/);
    const last = server!.requests.at(-1)!.body;
    expect(last.stream).toBe(true);
    const messages = last.messages.map((m: any) => m.role);
    expect(messages).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
    expect(last.messages[3].content).toMatch(/NAME +READY +STATUS/);
  }, 60_000);

  it("does not let the agent change anything unless it is allowed to", async () => {
    const deletion = {
      calls: [{ name: "nl2kubectl", args: { question: "x", command: "kubectl delete pod x -n otel-demo" } }],
    };
    const where = await at([deletion, { content: "I may not." }]);
    await cli(["chat", "--scenario", "sre-24", "--no-inject", ...where, "--ask", "delete pod x"]);
    expect(server!.requests[1]!.body.messages.at(-1).content).toMatch(/status="error"[\s\S]*(read|diagnosis|change)/i);
  }, 60_000);

  it("bounds the steps of a question", async () => {
    const where = await at([({ body }) => (body.tools ? pods : { content: "Enough." })]);
    const args = ["chat", "--scenario", "sre-24", "--no-inject", "--max-steps", "2", ...where];
    const { out } = await cli([...args, "--ask", "go on for ever"]);
    expect(out).toContain("Enough.");
    expect(server!.requests).toHaveLength(3);
  }, 60_000);

  it.each<[string, string[], RegExp]>([
    ["no environment", ["--model", "ollama:m"], /give --scenario .* or --kubeconfig/],
    ["two environments", ["--model", "ollama:m", "--scenario", "sre-24", "--kubeconfig", "x"], /give --scenario/],
    ["the playbook", ["--model", "playbook", "--scenario", "sre-24"], /cannot talk/],
    ["a kubeconfig that is not there", ["--model", "ollama:m", "--kubeconfig", "/nowhere"], /there is no file/],
    [
      "no such variant",
      ["--model", "ollama:m", "--scenario", "sre-24", "--prompt", "long"],
      /no prompt variant "long"/,
    ],
    ["an address that is none", ["--model", "ollama:m", "--kubeconfig", "x", "--loki", "loki"], /must be an address/],
  ])("refuses %s", async (_name, args, says) => {
    const { code, err } = await cli(["chat", ...args]);
    expect(code).toBe(2);
    expect(err).toMatch(says);
  });

  it("looks into a cluster of one's own, with the tools whose backends are named", async () => {
    const up = startCli(["env", "up", "--scenario", "sre-24", "--no-inject", "--json"]);
    try {
      while (up.out() === "") await new Promise((resolve) => setTimeout(resolve, 20));
      const { kubeconfig, env } = JSON.parse(up.out());
      const where = await at([pods, { content: "They run." }]);
      const cluster = ["--kubeconfig", kubeconfig, "--namespace", "otel-demo", "--prometheus", env.PROMETHEUS_URL];
      const { out, code } = await cli(["chat", ...cluster, ...where, "--ask", "pods?"]);
      expect({ code, out }).toEqual({ code: 0, out: "They run.\n" });
      const tools = server!.requests[0]!.body.tools.map((tool: any) => tool.function.name);
      expect(tools).toEqual(expect.arrayContaining(["nl2kubectl", "nl2metrics"]));
      for (const gone of ["nl2logs", "nl2traces", "nl2alerts"]) expect(tools).not.toContain(gone);
      expect(server!.requests[1]!.body.messages.at(-1).content).toMatch(/NAME +READY/);
    } finally {
      up.interrupt();
      await up.done;
    }
  }, 60_000);

  it("says when the model fails, and goes on", async () => {
    const where = await at([{ status: 400, message: "odd" }, { content: "Better now." }]);
    const args = ["chat", "--scenario", "sre-24", "--no-inject", ...where];
    const { out, err, code } = await cli(args, { input: ["one", "two", ""] });
    expect(code).toBe(0);
    expect(err).toContain("bad-request");
    expect(out).toContain("Better now.");
  }, 60_000);

  const program = fileURLToPath(new URL("../../../dist/harness/cli/main.js", import.meta.url));
  const built = existsSync(program);
  const ends = `ends at an empty line, though its input stays open${built ? "" : " (skipped: dist/ is not built)"}`;
  it.skipIf(!built)(
    ends,
    async () => {
      const where = await at([{ content: "no" }]);
      const child = spawn(process.execPath, [program, "chat", "--scenario", "sre-24", "--no-inject", ...where]);
      try {
        child.stdin.write("\n");
        const [code] = await once(child, "exit", { signal: AbortSignal.timeout(30_000) });
        expect(code).toBe(0);
      } finally {
        child.kill("SIGKILL");
      }
    },
    60_000,
  );
});

describe("a key that a server says back", () => {
  const said = { status: 401, message: "wrong key: our-own-secret-key, sk-abcdefghijklmnop1234" };
  it.each<[string, string[]]>([
    ["models check", ["models", "check", "ours"]],
    ["models check --json", ["models", "check", "ours", "--json"]],
    ["chat", ["chat", "--scenario", "sre-24", "--no-inject", "--model", "ours", "--ask", "hi"]],
    ["run", ["run", "--scenario", "sre-24", "--model", "ours", "--out", join(folder, "key"), "--watch"]],
  ])(
    "is not shown by %s",
    async (_name, args) => {
      server = await serveModel("openai", [said]);
      const file = join(folder, "keyed.yaml");
      const entry = { provider: "openai", model: "m", base_url: baseUrlOf("openai", server), api_key_env: "OUR_KEY" };
      writeFileSync(file, JSON.stringify({ models: { ours: entry } }));
      const env = { OUR_KEY: "our-own-secret-key" };
      const { out, err } = await cli([...args, "--models-file", file], { env });
      expect(out + err).toContain("wrong key: ***, sk-***");
      expect(out + err).not.toMatch(/our-own-secret-key|abcdefghijklmnop/);
    },
    60_000,
  );
});
