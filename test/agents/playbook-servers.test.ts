/** The same run, with the playbook in the process and behind servers that speak OpenAI's protocol and Ollama's. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ProtocolName } from "../../agents/index.js";
import { cli } from "../harness/cli/support.js";
import { servePlaybook } from "../support/playbook-server.js";
import { baseUrlOf, type WireKind } from "../support/wire-model.js";

const folder = mkdtempSync(join(tmpdir(), "itbench-servers-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SCENARIO = "sre-24";

interface Run {
  /** Events without number, times, the model's name and token counts, one a line. */
  lines: string[];
  trial: { resolved: number; effort: { steps: number } };
}

async function run(out: string, args: string[]): Promise<Run> {
  const path = join(folder, out);
  const ran = await cli(["run", "--scenario", SCENARIO, "--out", path, "--max-steps", "60", "--json", ...args]);
  expect(ran.err).not.toMatch(/model-error/);
  expect(ran.code).toBe(0);
  const { trials } = JSON.parse(ran.out);
  const text = readFileSync(join(path, "trials", SCENARIO, "1", "transcript.jsonl"), "utf8").trimEnd();
  const lines = text.split("\n").map((line) => {
    const { time: _t, seq: _s, ...event } = JSON.parse(line);
    if (event.event === "task") event.model = "";
    if (event.event === "usage") {
      const { inputTokens: _i, outputTokens: _o, cachedTokens: _c, cost: _$, ...usage } = event.usage;
      event.usage = usage;
    }
    if (event.tokens !== undefined) event.tokens = {};
    return JSON.stringify(event);
  });
  return { lines, trial: trials[0] };
}

async function behind(kind: WireKind, protocol: ProtocolName): Promise<Run> {
  const server = await servePlaybook(kind, protocol);
  try {
    const where = ["--model", `${kind}:playbook`, "--base-url", baseUrlOf(kind, server), "--protocol", protocol];
    return await run(`${kind}-${protocol}`, where);
  } finally {
    await server.close();
  }
}

describe.each(["tool-calling", "react-text", "json-action"] as const)(
  "the playbook behind a server: %s",
  (protocol) => {
    it("gives the same transcript on OpenAI's protocol and on Ollama's", async () => {
      const openai = await behind("openai", protocol);
      const ollama = await behind("ollama", protocol);
      expect(openai.trial.effort.steps).toBeGreaterThan(5);
      expect(openai.trial.resolved).toBe(1);
      expect(ollama.lines).toEqual(openai.lines);
      if (protocol === "tool-calling") {
        expect((await run("in-process", ["--model", "playbook"])).lines).toEqual(openai.lines);
      }
    }, 120_000);
  },
);
