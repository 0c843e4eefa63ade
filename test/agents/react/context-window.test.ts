import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ProtocolName } from "../../../agents/index.js";
import { runReact } from "../../../agents/react/index.js";
import { ModelError } from "../../../models/index.js";
import { events, testContext } from "../../support/agent-context.js";
import { ScriptedModel, type ScriptedRequest, type ScriptedTurn } from "../../support/scripted-model.js";

/** Answers with `size` bytes in lines, the first of which names the question. */
const look = tool(
  async ({ what, size }: { what: string; size: number }) => `${what}\n${"0123456789\n".repeat(size / 11)}`,
  {
    name: "look",
    description: "Looks.",
    schema: z.object({ what: z.string(), size: z.number() }),
  },
);

const PLAN = "My plan: first the pods, then the logs.";
const overflow = () => new ModelError("maximum context length is 8192 tokens", { kind: "context-overflow" });

/** A turn that looks, in words of the protocol. */
function asks(protocol: ProtocolName, what: string, size: number): ScriptedTurn {
  if (protocol === "tool-calling") return { text: PLAN, calls: [{ tool: "look", args: { what, size } }] };
  return `Thought: ${PLAN}\nAction: look\nAction Input: ${JSON.stringify({ what, size })}`;
}

function ends(protocol: ProtocolName): ScriptedTurn {
  if (protocol === "tool-calling") return [{ tool: "submit", args: { answer: "42" } }];
  return 'Thought: done\nAction: submit\nAction Input: {"answer": "42"}';
}

async function play(
  turns: ScriptedTurn[],
  settings: { window?: number; protocol?: ProtocolName; charactersPerToken?: number } = {},
) {
  const protocol = settings.protocol ?? "tool-calling";
  const model = new ScriptedModel([...turns, ends(protocol)], { tokens: { input: 0, output: 5 } });
  const context = testContext(model, {
    protocol,
    ...(settings.window === undefined ? {} : { contextWindow: settings.window }),
    options: { maxObservationBytes: 100_000 },
  });
  const outcome = await runReact(
    {
      persona: "sre",
      task: "test",
      system: { name: "test", variant: "default", text: "You are tested.", hash: "0" },
      message: "THE TASK",
      tools: () => [look as any],
      submit: { name: "submit", description: "Gives the answer.", schema: z.object({ answer: z.string() }) },
    },
    context,
  );
  return { outcome, model, context };
}

const observations = (request: ScriptedRequest) => request.messages.filter((m) => ToolMessage.isInstance(m));
const lengthOf = (request: ScriptedRequest) => request.messages.reduce((sum, m) => sum + m.text.length, 0);
/** `w` whole, `s` shortened, `-` left out, for each observation. */
const shape = (request: ScriptedRequest) =>
  observations(request)
    .map((m) => (/^\(left out/.test(m.text) ? "-" : /left out to make room/.test(m.text) ? "s" : "w"))
    .join("");

describe("a context window that is known", () => {
  const many = Array.from({ length: 8 }, (_, i) => asks("tool-calling", `q${i}`, 3300));

  it("is never passed, and old observations are shortened before any is left out", async () => {
    const window = 4000;
    const { outcome, model } = await play(many, { window });
    expect(outcome.status).toBe("ok");
    for (const request of model.requests) expect(lengthOf(request) / 3).toBeLessThanOrEqual(window);
    const shapes = model.requests.map(shape);
    expect(shapes[2]).toBe("ww");
    const first = shapes.find((one) => /[s-]/.test(one))!;
    expect(first).toMatch(/^s+w+$/);
    for (const one of shapes) expect(one).toMatch(/^-*s*w*$/);
    // The newest observation is whole throughout.
    expect(shapes.slice(1).every((one) => one.endsWith("w"))).toBe(true);
  });

  it("leaves the task, the system prompt and the model's own words whole", async () => {
    const { model } = await play(many, { window: 2000 });
    const last = model.requests.at(-1)!;
    expect(shape(last)).toMatch(/^-+/);
    expect(last.messages[0]!.text).toContain("You are tested.");
    expect(last.messages[1]!.text).toBe("THE TASK");
    const said = last.messages.filter((m) => AIMessage.isInstance(m));
    expect(said.map((m) => m.text)).toEqual(Array(8).fill(PLAN));
  });

  it("shortens to the beginning and the end, inside the fence", async () => {
    const { model } = await play(many, { window: 4000 });
    const cut = observations(model.requests.at(-1)!).find((m) => /bytes left out to make room/.test(m.text))!;
    expect(cut.text).toMatch(/^<observation id="call_\d" tool="look">\nq\d\n/);
    expect(cut.text).toMatch(/<\/observation>$/);
    expect(Buffer.byteLength(cut.text)).toBeLessThan(800);
  });

  it("shortens even the newest where nothing else helps", async () => {
    const { outcome, model } = await play([asks("tool-calling", "huge", 55_000)], { window: 2000 });
    expect(outcome.status).toBe("ok");
    expect(shape(model.requests[1]!)).toBe("s");
    expect(lengthOf(model.requests[1]!) / 3).toBeLessThan(2000);
  });

  it("is left alone while there is room, and cut in strides", async () => {
    const { model, context } = await play(many, { window: 100_000 });
    expect(shape(model.requests.at(-1)!)).toBe("w".repeat(8));
    expect(events(context, "context")).toEqual([]);
    const tight = await play(many, { window: 6000 });
    expect(events(tight.context, "context").length).toBeLessThan(6);
  });

  it.each(["react-text", "json-action"] as const)("holds in %s too", async (protocol) => {
    const turns = Array.from({ length: 8 }, (_, i) => asks(protocol, `q${i}`, 3300));
    const { outcome, model } = await play(turns, { window: 4000, protocol });
    expect(outcome.status).toBe("ok");
    for (const request of model.requests) expect(lengthOf(request) / 3).toBeLessThanOrEqual(4000);
  });
});

describe("a context window that is not known", () => {
  it("is found by the server's refusals", async () => {
    const asked = ["a", "b", "c"].map((what) => asks("tool-calling", what, 3300));
    const { outcome, model } = await play([...asked, overflow(), overflow()]);
    expect(outcome.status).toBe("ok");
    const shapes = model.requests.slice(3).map(shape);
    expect(shapes[0]).toBe("www");
    expect(shapes[1]).toMatch(/^s[sw]w$/);
    expect(shapes[2]).toMatch(/^[-s]{3}$/);
    const lengths = model.requests.slice(3).map(lengthOf);
    expect(lengths[1]!).toBeLessThan(lengths[0]!);
    expect(lengths[2]!).toBeLessThan(lengths[1]!);
  });

  it("that is smaller than the task itself ends the run as a model's error", async () => {
    const { outcome } = await play([overflow(), overflow()]);
    expect(outcome).toMatchObject({ status: "model-error", detail: expect.stringContaining("context-overflow") });
  });
});
