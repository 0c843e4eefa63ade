/** Thought, Action, Action Input, Observation in plain text, as in the paper's baselines. */
import { prompt } from "../../../prompts/index.js";
import { describeTools } from "./describe-tools.js";
import { parseReact } from "./parse-react.js";
import { asPlainText, type Protocol, wasCutOff } from "./protocol.js";

export const reactText: Protocol = {
  name: "react-text",
  native: false,
  instructions: (tools, submit, options) =>
    prompt("react-text", options.promptVariant, {
      tools: describeTools(tools),
      names: tools.map((tool) => tool.name).join(", "),
      submit,
      examples: options.examples ? "yes" : "",
    }).text,
  // Without it, models go on and make up the observation.
  settings: () => [{ stop: ["\nObservation:"] }],
  write: (messages) => asPlainText(messages, "Observation: "),
  read: (answer, tools) => parseReact(answer.text, tools, { cut: wasCutOff(answer) }),
};
