/**
 * What models write, and what the loop makes of it. Each line of the files beside this one is an answer in some model's
 * style with the calls that it means, or the fault that the model must be told of.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ProtocolName } from "../../agents/index.js";
import { checkArguments } from "../../agents/react/arguments.js";
import { PROTOCOLS } from "../../agents/react/protocols/index.js";
import { diagnosisSchema } from "../../agents/sre/output.js";

interface Line {
  protocol: ProtocolName;
  style: string;
  text: string;
  /** The backend's own calls, with their arguments as they came over the wire. */
  native?: { name: string; arguments: string }[];
  reasoning?: string;
  /** The backend said that it stopped at the token limit. */
  cut?: boolean;
  calls?: Call[];
  /** A pattern that the message to the model must match. */
  fault?: string;
}

interface Call {
  tool: string;
  args: Record<string, unknown>;
}

const SCHEMAS: Record<string, z.ZodTypeAny> = {
  nl2kubectl: z.object({ question: z.string(), command: z.string().optional() }),
  nl2metrics: z.object({ question: z.string(), minutes: z.number().optional() }),
  nl2logs: z.object({ question: z.string(), namespace: z.string().optional(), limit: z.number().optional() }),
  nl2traces: z.object({ service: z.string(), errors_only: z.boolean().optional() }),
  nl2alerts: z.object({ state: z.enum(["firing", "pending"]).optional(), match: z.string().optional() }),
  wait: z.object({ seconds: z.number() }),
  submit_diagnosis: diagnosisSchema.pick({ entities: true }),
};
const TOOLS = { names: Object.keys(SCHEMAS), submit: "submit_diagnosis" };

const folder = import.meta.dirname;
const corpus = readdirSync(folder)
  .filter((name) => name.endsWith(".jsonl"))
  .flatMap((name) => {
    const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
    return lines.map((line, i) => ({ where: `${name}:${i + 1}`, line: JSON.parse(line) as Line }));
  });

/** The answer as a backend would hand it on: streamed where the arguments did not come as an object. */
function message(line: Line): AIMessage {
  const fields = {
    content: line.text,
    additional_kwargs: line.reasoning === undefined ? {} : { reasoning_content: line.reasoning },
    response_metadata: { finish_reason: line.cut ? "length" : "stop" },
  };
  if (line.native === undefined) return new AIMessage(fields);
  const tool_call_chunks = line.native.map((call, index) => ({
    type: "tool_call_chunk" as const,
    id: `c${index}`,
    index,
    name: call.name,
    args: call.arguments,
  }));
  return new AIMessageChunk({ ...fields, tool_call_chunks });
}

/** What would run, and what the model would be told otherwise. */
function outcome(line: Line): { calls: Call[]; told: string } {
  const parsed = PROTOCOLS[line.protocol].read(message(line), TOOLS);
  if (!parsed.ok) return { calls: [], told: parsed.reason };
  const calls: Call[] = [];
  const told: string[] = [];
  for (const action of parsed.actions) {
    const schema = SCHEMAS[action.tool];
    const checked = schema && checkArguments(schema, action.args);
    if (checked?.ok) calls.push({ tool: action.tool, args: checked.args });
    else told.push(checked ? checked.problems.join("; ") : `there is no tool "${action.tool}"`);
  }
  return { calls, told: told.join("; ") };
}

describe("the corpus of model answers", () => {
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  const results = corpus.map(({ where, line }) => {
    const { calls, told } = outcome(line);
    const meant = line.calls ?? [];
    const understood = line.fault === undefined ? same(calls, meant) : calls.length === 0 && told !== "";
    return { where, line, calls, told, meant, understood };
  });

  it("has at least 300 answers, for each protocol and in many styles", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(300);
    expect(new Set(corpus.map(({ line }) => line.protocol)).size).toBe(3);
    expect(new Set(corpus.map(({ line }) => line.style)).size).toBeGreaterThanOrEqual(150);
  });

  it("is understood as intended, to at least 95 % of the answers that mean a call", () => {
    const withCalls = results.filter(({ line }) => line.fault === undefined);
    const missed = withCalls.filter(({ understood }) => !understood);
    const share = 1 - missed.length / withCalls.length;
    const percent = (share * 100).toFixed(1);
    console.log(`${withCalls.length} of ${corpus.length} answers mean a call; ${percent} % are understood as intended`);
    for (const { where, line, told, calls } of missed) {
      console.log(`  ${where} (${line.style}): ${told || JSON.stringify(calls)}`);
    }
    expect(share).toBeGreaterThanOrEqual(0.95);
  });

  it("runs nothing that was not meant", () => {
    const unmeant = results.filter(({ calls, meant }) => calls.some((call) => !meant.some((one) => same(one, call))));
    expect(unmeant.map(({ where, line, calls }) => ({ where, style: line.style, calls }))).toEqual([]);
  });

  it("names the fault of everything else", () => {
    const unnamed = results
      .filter(({ line, told, understood }) =>
        line.fault === undefined ? !understood && told === "" : !new RegExp(line.fault, "i").test(told),
      )
      .map(({ where, line, told }) => ({ where, style: line.style, told, expected: line.fault }));
    expect(unnamed).toEqual([]);
  });

  it("runs nothing else when an answer is cut off anywhere, whether the backend says so or not", () => {
    const wrong: unknown[] = [];
    for (const { where, line } of corpus) {
      // Of a faulty answer a first call may be whole, and run where the rest is not there.
      if (line.fault !== undefined) continue;
      const whole = outcome(line).calls;
      for (let end = 1; end < line.text.length; end += 5) {
        const text = line.text.slice(0, end);
        const { calls } = outcome({ ...line, text, cut: true });
        if (calls.some((call) => !whole.some((one) => same(one, call)))) wrong.push({ where, text, calls });
      }
      for (const [i, call] of (line.native ?? []).entries()) {
        for (let end = 1; end < call.arguments.length - 1; end++) {
          const native = line.native!.map((one, j) =>
            j === i ? { ...call, arguments: call.arguments.slice(0, end) } : one,
          );
          for (const cut of [true, false]) {
            const { calls } = outcome({ ...line, native, cut });
            if (calls.some((one) => !whole.some((other) => same(other, one)) && end > 2)) {
              wrong.push({ where, native, cut, calls });
            }
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});
