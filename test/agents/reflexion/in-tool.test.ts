import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { runReflexively } from "../../../agents/reflexion/index.js";
import { prompt } from "../../../prompts/index.js";
import { type QuerySteps, ToolFailure, UnreadableQueryError } from "../../../tools/index.js";

interface Given {
  /** Answers of the nested model, one an attempt. */
  answers?: string[];
  literal?: string;
  reflection?: boolean;
  linters?: boolean;
  max?: number;
}

/** A tool whose queries are words: "bad..." is found by the linter, "fail..." fails when run, "?" is unreadable. */
async function run({ answers = [], literal, reflection = true, linters = true, max = 3 }: Given) {
  const log: string[] = [];
  const conversations: string[][] = [];
  const steps: QuerySteps<string> = {
    ...(literal === undefined ? {} : { literal }),
    write: async (ask) => {
      const answer = await ask(prompt("summarize", "default", { question: "q", text: "t" }));
      if (answer === "?") throw new UnreadableQueryError("no query found");
      return answer;
    },
    lint: async (query) => {
      if (query === "lint-down") throw new ToolFailure("backend down");
      return query.startsWith("bad") ? [`${query} is bad`] : [];
    },
    execute: async (query) => {
      if (query.startsWith("fail")) throw new ToolFailure(`${query} failed`);
      return `result of ${query}`;
    },
    show: (query) => query,
  };
  const result = await runReflexively(steps, {
    options: { reflection, maxReflections: max, linters, promptVariant: "default" },
    converse: async (messages) => {
      conversations.push(messages.map((m) => `${HumanMessage.isInstance(m) ? "user" : "model"}: ${m.text}`));
      return answers[conversations.length - 1] ?? "out of answers";
    },
    events: {
      lint: (attempt, command, findings) => log.push(`${attempt} lint ${command}: ${findings}`),
      execute: (attempt, command) => log.push(`${attempt} execute ${command}`),
      reflection: (attempt, cause) => log.push(`${attempt} reflect ${cause}`),
    },
  }).catch((error: Error) => {
    if (!(error instanceof ToolFailure)) throw error;
    return `FAILED ${error.message}`;
  });
  return { result, log, conversations };
}

describe("reflexion inside a tool", () => {
  it.each<[string, Given, string, string[]]>([
    ["a good query runs", { answers: ["ok"] }, "result of ok", ["1 execute ok"]],
    [
      "a finding is reflected on",
      { answers: ["bad1", "ok"] },
      "result of ok",
      ["1 lint bad1: bad1 is bad", "1 reflect lint", "2 execute ok"],
    ],
    [
      "an error is reflected on",
      { answers: ["fail1", "ok"] },
      "result of ok",
      ["1 execute fail1", "1 reflect error", "2 execute ok"],
    ],
    [
      "an unreadable answer is reflected on",
      { answers: ["?", "ok"] },
      "result of ok",
      ["1 lint : no query found", "1 reflect lint", "2 execute ok"],
    ],
    [
      "at most as often as allowed",
      { answers: ["fail1", "bad2", "fail3", "ok"], max: 2 },
      "FAILED fail3\nfail3 failed",
      ["1 execute fail1", "1 reflect error", "2 lint bad2: bad2 is bad", "2 reflect lint", "3 execute fail3"],
    ],
    [
      "a query that stays bad is not run",
      { answers: ["bad1", "bad2"], max: 1 },
      "FAILED not run: bad2\nbad2 is bad",
      ["1 lint bad1: bad1 is bad", "1 reflect lint", "2 lint bad2: bad2 is bad"],
    ],
    [
      "without reflection: error",
      { answers: ["fail1"], reflection: false },
      "FAILED fail1\nfail1 failed",
      ["1 execute fail1"],
    ],
    [
      "without reflection: finding",
      { answers: ["bad1"], reflection: false },
      "FAILED not run: bad1\nbad1 is bad",
      ["1 lint bad1: bad1 is bad"],
    ],
    ["without linters", { answers: ["bad1"], linters: false }, "result of bad1", ["1 execute bad1"]],
    [
      "a linter whose backend is down has no say",
      { answers: ["lint-down"] },
      "result of lint-down",
      ["1 execute lint-down"],
    ],
    ["a literal query: run as it is", { literal: "ok" }, "result of ok", ["1 execute ok"]],
    [
      "a literal query: its author reflects on an error",
      { literal: "fail1" },
      "FAILED fail1 failed",
      ["1 execute fail1"],
    ],
    [
      "a literal query: and on a finding",
      { literal: "bad1" },
      "FAILED not run: bad1\nbad1 is bad",
      ["1 lint bad1: bad1 is bad"],
    ],
  ])("%s", async (_name, given, result, log) => {
    const done = await run(given);
    expect(done.result).toBe(result);
    expect(done.log).toEqual(log);
    expect(done.conversations.length).toBe(
      given.literal === undefined ? log.filter((l) => /reflect/.test(l)).length + 1 : 0,
    );
  });

  it("goes on with one conversation, with the failing query and its error", async () => {
    const { conversations } = await run({ answers: ["bad1", "fail2", "ok"] });
    expect(conversations.map((one) => one.length)).toEqual([1, 3, 5]);
    const [, , last] = conversations;
    expect(last![0]).toMatch(/^user: Answer this question/);
    expect(last![1]).toBe("model: bad1");
    expect(last![2]).toMatch(/^user: [\s\S]*bad1 is bad/);
    expect(last![3]).toBe("model: fail2");
    expect(last![4]).toMatch(/^user: [\s\S]*fail2 failed/);
  });
});
