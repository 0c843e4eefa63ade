/** Streams as servers send them: the pieces of a call under whatever ids and indexes. */
import { afterEach, describe, expect, it } from "vitest";
import { createOpenAIModel } from "../../models/openai.js";
import { serve, type TestServer } from "../support/http.js";
import { streamDeltas } from "../support/wire-model.js";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const piece = (call: object) => ({ tool_calls: [call] });
const pods = { name: "pods", args: { namespace: "shop" } };
const fn = (args: string, name?: string) => ({ ...(name === undefined ? {} : { name }), arguments: args });

async function answer(deltas: object[], finish = "tool_calls") {
  server = await serve((_, response) => streamDeltas(response, deltas, finish));
  const settings = { model: "m", apiKey: "none", baseUrl: `${server.url}/v1`, parameters: {}, streaming: true, fetch };
  return createOpenAIModel(settings).invoke("hi");
}

describe("the pieces of streamed calls", () => {
  it.each<{ name: string; deltas: object[]; calls?: object[] }>([
    {
      name: 'the id "null" in continuations',
      deltas: [
        piece({ index: 0, id: "a", type: "function", function: fn("", "pods") }),
        piece({ index: 0, id: "null", function: fn('{"namespace":') }),
        piece({ index: 0, id: "null", function: fn('"shop"}') }),
      ],
    },
    {
      name: "an empty id and name in continuations",
      deltas: [
        piece({ index: 0, id: "a", type: "function", function: fn("", "pods") }),
        piece({ index: 0, id: "", type: "function", function: fn('{"namespace":"shop"}', "") }),
      ],
    },
    {
      name: "no index at all",
      deltas: [
        piece({ id: "a", type: "function", function: fn("", "pods") }),
        piece({ function: fn('{"namespace":') }),
        piece({ function: fn('"shop"}') }),
      ],
    },
    {
      name: "no index, no id",
      deltas: [piece({ function: fn('{"namespace":', "pods") }), piece({ function: fn('"shop"}') })],
    },
    {
      name: "id and name again in each piece",
      deltas: ['{"name', 'space":"', 'shop"}'].map((args) => piece({ index: 0, id: "a", function: fn(args, "pods") })),
    },
    {
      name: "two whole calls under one index",
      deltas: [
        piece({ index: 0, id: "a", function: fn('{"namespace":"shop"}', "pods") }),
        piece({ index: 0, id: "b", function: fn('{"seconds":1}', "wait") }),
      ],
      calls: [pods, { name: "wait", args: { seconds: 1 } }],
    },
    {
      name: "two whole calls without indexes in one piece",
      deltas: [
        {
          tool_calls: [
            { id: "a", function: fn('{"namespace":"shop"}', "pods") },
            { id: "b", function: fn('{"seconds":1}', "wait") },
          ],
        },
      ],
      calls: [pods, { name: "wait", args: { seconds: 1 } }],
    },
    {
      name: "two calls in pieces that alternate",
      deltas: [
        piece({ index: 0, id: "a", function: fn("", "pods") }),
        piece({ index: 1, id: "b", function: fn("", "wait") }),
        piece({ index: 0, function: fn('{"namespace":') }),
        piece({ index: 1, function: fn('{"seconds":') }),
        piece({ index: 0, function: fn('"shop"}') }),
        piece({ index: 1, function: fn("1}") }),
      ],
      calls: [pods, { name: "wait", args: { seconds: 1 } }],
    },
    {
      name: "indexes that begin at one, without ids",
      deltas: [
        piece({ index: 1, function: fn('{"namespace":"shop"}', "pods") }),
        piece({ index: 2, function: fn('{"seconds":1}', "wait") }),
      ],
      calls: [pods, { name: "wait", args: { seconds: 1 } }],
    },
    {
      name: "arguments as an object",
      deltas: [piece({ index: 0, id: "a", function: { name: "pods", arguments: { namespace: "shop" } } })],
    },
    {
      name: "no role, null content",
      deltas: [{ content: null }, piece({ index: 0, id: "a", function: fn('{"namespace":"shop"}', "pods") })],
    },
    {
      name: "another role",
      deltas: [
        { role: "model", content: "" },
        piece({ index: 0, id: "a", function: fn('{"namespace":"shop"}', "pods") }),
      ],
    },
  ])("$name", async ({ deltas, calls = [pods] }) => {
    const { tool_calls = [], invalid_tool_calls } = await answer(deltas);
    expect(tool_calls.map(({ name, args }) => ({ name, args }))).toEqual(calls);
    expect(invalid_tool_calls).toEqual([]);
    const ids = tool_calls.map((call) => call.id);
    expect(ids.every((id) => id && id !== "null")).toBe(true);
    expect(new Set(ids).size).toBe(calls.length);
  });

  it("a call that breaks off is not completed", async () => {
    const said = await answer([piece({ index: 0, id: "a", function: fn('{"namespace":"sh', "pods") })], "length");
    expect(said.tool_calls).toEqual([]);
    expect(said.invalid_tool_calls).toMatchObject([{ name: "pods", args: '{"namespace":"sh', id: "a" }]);
    expect(said.response_metadata.finish_reason).toBe("length");
  });

  it("reasoning comes under either name, content also in parts", async () => {
    for (const delta of [{ reasoning_content: "hm" }, { reasoning: "hm" }]) {
      const said = await answer([delta, { content: [{ type: "text", text: "hello" }] }], "stop");
      expect(said.text).toBe("hello");
      expect(said.additional_kwargs.reasoning_content).toBe("hm");
      await server!.close();
    }
  });
});
