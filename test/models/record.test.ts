import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type ProtocolName, sreAgent } from "../../agents/index.js";
import { Recorder, resolveModel, toModelError } from "../../models/index.js";
import { events, testContext } from "../support/agent-context.js";
import { ScriptedModel } from "../support/scripted-model.js";
import { baseUrlOf, serveModel, type WireAnswer, type WireKind } from "../support/wire-model.js";

const folder = mkdtempSync(join(tmpdir(), "itbench-record-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const file = () => join(folder, `recording-${++files}.jsonl`);

const answer = { entities: [{ name: "shop/Service/cart", contributing_factor: true, reasoning: "r", evidence: "e" }] };
const TURNS: Record<ProtocolName, WireAnswer[]> = {
  "tool-calling": [
    { content: "wait", thinking: "hm 🤔", calls: [{ name: "wait", args: { seconds: 5 } }] },
    { content: "", calls: [{ name: "wait", args: '{"seconds": ' }] },
    { calls: [{ name: "submit_diagnosis", args: answer }] },
  ],
  "react-text": [
    { content: 'Action: wait\nAction Input: {"seconds": 5}' },
    { content: `Action: submit_diagnosis\nAction Input: ${JSON.stringify(answer)}` },
  ],
  "json-action": [
    { content: '{"action": "wait", "input": {"seconds": 5}}' },
    { content: JSON.stringify({ action: "submit_diagnosis", input: answer }) },
  ],
};

describe.each(["openai", "ollama"] as WireKind[])("a recording of %s", (kind) => {
  it.each(Object.keys(TURNS) as ProtocolName[])("is played again byte for byte: %s", async (protocol) => {
    const server = await serveModel(kind, TURNS[protocol]);
    const path = file();
    const play = async (name: string, options: object) => {
      const model = await resolveModel(name, { env: {}, ...options });
      const context = testContext(new ScriptedModel([]), { model: model.chat, protocol });
      const outcome = await sreAgent.run({ task: "diagnosis" }, context);
      const lines = context.transcript.events.map(({ time: _, ...event }) => JSON.stringify(event)).join("\n");
      return { outcome, lines };
    };
    const recorder = new Recorder(path);
    const live = await play(`${kind}:m`, { baseUrl: baseUrlOf(kind, server), recorder });
    await server.close();
    const replayed = await play(`replay:${path}`, {});
    expect(live.outcome.status).toBe("ok");
    expect(replayed.lines).toBe(live.lines);
    const again = await play(`replay:${path}`, {});
    expect(again.lines).toBe(live.lines);
  });
});

const pods = tool(async () => "", { name: "pods", description: "Lists pods.", schema: z.object({ a: z.string() }) });

async function recorded() {
  const path = file();
  const server = await serveModel("openai", [{ content: "one" }, { content: "two" }, { content: "three" }]);
  const options = { env: {}, baseUrl: baseUrlOf("openai", server), recorder: new Recorder(path) };
  const { chat } = await resolveModel("openai:m", options);
  const messages = [new SystemMessage("be brief"), new HumanMessage("first question")];
  await chat.invoke(messages);
  await chat.invoke(messages);
  await chat.bindTools!([pods]).invoke(messages);
  await server.close();
  return { path, messages, replay: await resolveModel(`replay:${path}`) };
}

describe("replay", () => {
  it("gives the answers to the same request in their order, then the last one", async () => {
    const { replay, messages } = await recorded();
    const texts: string[] = [];
    for (let i = 0; i < 3; i++) texts.push((await replay.chat.invoke(messages)).text);
    expect(texts).toEqual(["one", "two", "two"]);
    expect((await replay.chat.bindTools!([pods]).invoke(messages)).text).toBe("three");
    expect(replay).toMatchObject({
      provider: "replay",
      model: "m",
      isLlm: true,
      parameters: { temperature: 0, seed: 42 },
    });
  });

  it("names what is missing, and the nearest that is there", async () => {
    const { replay, messages, path } = await recorded();
    const miss = async (run: () => Promise<unknown>) => run().catch(toModelError) as Promise<Error>;
    const other = await miss(() => replay.chat.invoke([messages[0]!, new HumanMessage("second question")]));
    expect(other).toMatchObject({ kind: "not-found" });
    expect(other.message).toContain(path);
    expect(other.message).toMatch(
      /differs from message 2 on; recorded human "first question", asked human "second question"/,
    );
    const longer = await miss(() => replay.chat.invoke([...messages, new HumanMessage("more")]));
    expect(longer.message).toMatch(/from message 3 on; recorded nothing, asked human "more"/);
    const settings = await miss(() => replay.chat.bindTools!([pods], { stop: ["x"] } as any).invoke(messages));
    expect(settings.message).toMatch(/same 2 messages, but other tools or settings/);
  });

  it("that misses is an outcome of a trial, not a crash", async () => {
    const { replay } = await recorded();
    const context = testContext(new ScriptedModel([]), { model: replay.chat });
    const outcome = await sreAgent.run({ task: "diagnosis" }, context);
    expect(outcome).toMatchObject({
      status: "model-error",
      detail: expect.stringContaining("has no answer to this request"),
    });
    expect(events(context, "outcome")).toHaveLength(1);
  });

  it("holds no key", async () => {
    const path = file();
    const server = await serveModel("openai", [{ content: "one" }]);
    const key = "sk-secret-0123456789abcdef";
    const options = {
      env: { OPENAI_API_KEY: key },
      baseUrl: baseUrlOf("openai", server),
      recorder: new Recorder(path),
    };
    await (await resolveModel("openai:m", options)).chat.invoke("hi");
    await server.close();
    expect(readFileSync(path, "utf8")).not.toContain(key);
  });

  it("does without half a line at the end, and says what is wrong with other files", async () => {
    const { path, messages } = await recorded();
    writeFileSync(path, readFileSync(path, "utf8").slice(0, -20));
    const { chat } = await resolveModel(`replay:${path}`);
    expect((await chat.invoke(messages)).text).toBe("one");
    expect(() => new Recorder(path)).toThrow(/holds something already/);
    await expect(resolveModel(`replay:${join(folder, "gone")}`)).rejects.toThrow(/cannot be read \(ENOENT\)/);
    const wrong = file();
    writeFileSync(wrong, '{"a": 1}\n');
    await expect(resolveModel(`replay:${wrong}`)).rejects.toThrow(/is no recording/);
    writeFileSync(wrong, 'x\n{"a": 1}\n');
    await expect(resolveModel(`replay:${wrong}`)).rejects.toThrow(/line 1: not valid JSON/);
  });
});
