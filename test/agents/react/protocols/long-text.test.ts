import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { PROTOCOLS } from "../../../../agents/react/protocols/index.js";

const tools = { names: ["nl2kubectl", "nl2metrics", "wait", "submit_diagnosis"], submit: "submit_diagnosis" };
const PIECES = [
  "x",
  "x ",
  " ",
  "\n",
  "\t",
  "{",
  "}",
  '{"a":',
  "[",
  "(",
  "`",
  "```",
  "```json\n",
  "<",
  "<a>",
  "<tool_call>",
  "<think>",
  "<|",
  '"',
  "'",
  "\\",
  '\\"',
  ",",
  ":",
  "=",
  "*",
  "-",
  "1. ",
  "Action:",
  "Action: nl2kubectl\n",
  "Action Input:",
  "Thought: x\n",
  "Observation:",
  "nl2kubectl(",
  "nl2kubectl(a=",
  "print(",
  "await ",
  "a = ",
  "functions.",
  "// ",
  "/*",
  "#",
  "é",
  "中",
  "😀",
];

/** Every reader must look at a text in about linear time: a model can say the same thing for a very long time. */
describe.each(Object.values(PROTOCOLS))("$name", (protocol) => {
  it.each(PIECES.map((piece) => [JSON.stringify(piece), piece]))("reads 100 kB of %s", (_name, piece) => {
    const text = piece.repeat(Math.ceil(100_000 / piece.length));
    // With a look at all that follows from each character this would take longer than any test may.
    for (const whole of [text, `nl2kubectl ${text}`]) expect(protocol.read(new AIMessage(whole), tools)).toBeDefined();
  });
});
