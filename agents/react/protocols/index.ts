/** The protocols by name. */
import type { ProtocolName } from "../../agent.js";
import { jsonAction } from "./json-action.js";
import type { Protocol } from "./protocol.js";
import { reactText } from "./react-text.js";
import { toolCalling } from "./tool-calling.js";

export { type Parsed, type ParsedAction, type ToolNames, withoutThinking } from "./action.js";
export { NOT_UNDERSTOOD, type Protocol, TEXT_ARGUMENT, withCalls, withoutCalls } from "./protocol.js";

export const PROTOCOLS: Record<ProtocolName, Protocol> = {
  "tool-calling": toolCalling,
  "react-text": reactText,
  "json-action": jsonAction,
};
