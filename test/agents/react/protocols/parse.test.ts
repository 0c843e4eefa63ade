import { describe, expect, it } from "vitest";
import { parseJsonAction } from "../../../../agents/react/protocols/json-action.js";
import { parseReact } from "../../../../agents/react/protocols/parse-react.js";

const tools = { names: ["nl2kubectl", "nl2metrics", "wait", "submit_diagnosis"], submit: "submit_diagnosis" };

type Expected = [tool: string, args: unknown] | string;

function check(parse: typeof parseReact, text: string, expected: Expected) {
  const parsed = parse(text, tools);
  if (typeof expected === "string") {
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining(expected) });
  } else {
    expect(parsed).toMatchObject({ ok: true, actions: [{ tool: expected[0], args: expected[1] }] });
    if (parsed.ok) expect(parsed.actions).toHaveLength(1);
  }
}

const args = { question: "pods?" };

describe("react-text", () => {
  it.each<[name: string, text: string, expected: Expected]>([
    ["plain", 'Thought: x\nAction: nl2kubectl\nAction Input: {"question": "pods?"}', ["nl2kubectl", args]],
    [
      "prose around",
      'Sure!\n\nThought: x\nAction: nl2kubectl\nAction Input: {"question": "pods?"}\nI wait.',
      ["nl2kubectl", args],
    ],
    [
      "markdown",
      '**Thought:** x\n**Action:** `nl2kubectl`\n**Action Input:** {"question": "pods?"}',
      ["nl2kubectl", args],
    ],
    ["numbered", 'Thought 1: x\nAction 1: nl2kubectl\nAction Input 1: {"question": "pods?"}', ["nl2kubectl", args]],
    ["a fence", 'Action: nl2kubectl\nAction Input:\n```json\n{"question": "pods?"}\n```', ["nl2kubectl", args]],
    ["all in a fence", '```\nAction: nl2kubectl\nAction Input: {"question": "pods?"}\n```', ["nl2kubectl", args]],
    ["a trailing comma", 'Action: nl2kubectl\nAction Input: {"question": "pods?",}', ["nl2kubectl", args]],
    ["single quotes", "Action: nl2kubectl\nAction Input: {'question': 'pods?'}", ["nl2kubectl", args]],
    ["a missing brace", 'Action: nl2kubectl\nAction Input: {"question": "pods?"', ["nl2kubectl", args]],
    ["over several lines", 'Action: nl2kubectl\nAction Input: {\n  "question": "pods?"\n}', ["nl2kubectl", args]],
    ["no label for the input", 'Action: nl2kubectl\n{"question": "pods?"}', ["nl2kubectl", args]],
    ["a call", 'Action: nl2kubectl({"question": "pods?"})', ["nl2kubectl", args]],
    ["a call in brackets", "Action: nl2kubectl[get the pods]", ["nl2kubectl", "get the pods"]],
    [
      "JSON on the action's line",
      'Action: {"action": "nl2kubectl", "input": {"question": "pods?"}}',
      ["nl2kubectl", args],
    ],
    ["JSON alone", '{"action": "nl2kubectl", "action_input": {"question": "pods?"}}', ["nl2kubectl", args]],
    [
      "text as input",
      "Action: nl2kubectl\nAction Input: kubectl get pods -n shop",
      ["nl2kubectl", "kubectl get pods -n shop"],
    ],
    ["quoted text", 'Action: nl2kubectl\nAction Input: "kubectl get pods"', ["nl2kubectl", "kubectl get pods"]],
    [
      "a selector, which begins like JSON",
      'Action: nl2metrics\nAction Input: {service="cart"}',
      ["nl2metrics", '{service="cart"}'],
    ],
    ["no input", "Action: wait\nAction Input: None", ["wait", {}]],
    ["another case", 'action: NL2Kubectl\naction input: {"question": "pods?"}', ["nl2kubectl", args]],
    [
      "a made-up observation",
      'Action: nl2kubectl\nAction Input: {"question": "pods?"}\nObservation: cart is down\nThought: done\nAction: submit_diagnosis\nAction Input: {}',
      ["nl2kubectl", args],
    ],
    [
      "several actions",
      'Action: nl2kubectl\nAction Input: {"question": "pods?"}\nAction: wait\nAction Input: {"seconds": 5}',
      ["nl2kubectl", args],
    ],
    [
      "thinking before",
      '<think>Action: wait\nAction Input: {}</think>\nAction: nl2kubectl\nAction Input: {"question": "pods?"}',
      ["nl2kubectl", args],
    ],
    [
      "only the end of thinking",
      'Action: wait</think>\nAction: nl2kubectl\nAction Input: {"question": "pods?"}',
      ["nl2kubectl", args],
    ],
    ["a final answer", 'Thought: x\nFinal Answer: {"entities": []}', ["submit_diagnosis", { entities: [] }]],
    [
      "a final answer in a fence",
      'Final Answer:\nThe cause is clear.\n```json\n{"entities": []}\n```',
      ["submit_diagnosis", { entities: [] }],
    ],
    [
      "a final answer as an action",
      'Action: Final Answer\nAction Input: {"entities": []}',
      ["submit_diagnosis", { entities: [] }],
    ],
    [
      "braces and quotes inside strings",
      'Action: nl2kubectl\nAction Input: {"question": "why \\"} Action: wait\\"?"}',
      ["nl2kubectl", { question: 'why "} Action: wait"?' }],
    ],
    ["no action", "Thought: I should look at the pods.", 'no line that begins with "Action:"'],
    ["nothing", "", 'no line that begins with "Action:"'],
    ["an unknown tool", "Action: bash\nAction Input: {}", 'there is no tool "bash"; the tools are: nl2kubectl'],
    ["no tool", "Action: None\nAction Input: {}", "to give your answer use submit_diagnosis"],
    ["a final answer without JSON", "Final Answer: the cart is broken", "submit_diagnosis"],
  ])("%s", (_name, text, expected) => check(parseReact, text, expected));

  it.each([
    ["Action: wait\nAction Input: {}\nObservation: waited", "ignored"],
    ["Action: wait\nAction Input: {}\nThought: y\nAction: wait\nAction Input: {}", "only your first action"],
    ["Action: wait\nAction Input: {}", undefined],
  ])("remarks on what was dropped: %j", (text, note) => {
    const parsed = parseReact(text, tools);
    expect(parsed.ok && parsed.note).toEqual(note === undefined ? undefined : expect.stringContaining(note));
  });
});

describe("json-action", () => {
  it.each<[name: string, text: string, expected: Expected]>([
    ["plain", '{"thought": "x", "action": "nl2kubectl", "input": {"question": "pods?"}}', ["nl2kubectl", args]],
    [
      "a fence and prose",
      'Here:\n```json\n{"action": "nl2kubectl", "input": {"question": "pods?"}}\n```\nDone.',
      ["nl2kubectl", args],
    ],
    ["other keys", '{"tool": "nl2kubectl", "parameters": {"question": "pods?"}}', ["nl2kubectl", args]],
    ["nested", '{"action": {"name": "nl2kubectl", "args": {"question": "pods?"}}}', ["nl2kubectl", args]],
    ["as a function call", '{"function": {"name": "nl2kubectl", "arguments": "{}"}}', ["nl2kubectl", {}]],
    ["arguments beside the name", '{"action": "nl2kubectl", "question": "pods?"}', ["nl2kubectl", args]],
    ["the tool as key", '{"nl2kubectl": {"question": "pods?"}}', ["nl2kubectl", args]],
    ["tags", '<tool_call>{"name": "nl2kubectl", "arguments": {"question": "pods?"}}</tool_call>', ["nl2kubectl", args]],
    ["a list", '[{"action": "nl2kubectl", "input": {"question": "pods?"}}, {"action": "wait"}]', ["nl2kubectl", args]],
    [
      "two objects",
      '{"action": "nl2kubectl", "input": {"question": "pods?"}}\n{"action": "wait"}',
      ["nl2kubectl", args],
    ],
    ["cut off", '{"action": "nl2kubectl", "input": {"question": "pods?"', ["nl2kubectl", args]],
    ["a final answer", '{"action": "Final Answer", "input": {"entities": []}}', ["submit_diagnosis", { entities: [] }]],
    ["no JSON", "I do not know", "no JSON object"],
    ["no tool", '{"thought": "x"}', "names no tool"],
    ["an unknown tool", '{"action": "bash", "input": {}}', 'there is no tool "bash"'],
  ])("%s", (_name, text, expected) => check(parseJsonAction, text, expected));
});
