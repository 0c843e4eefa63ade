/** Reads the calls that a model wrote into its text, in whatever form: tags, JSON, or code. */
import {
  type Found,
  inventedFrom,
  type Parsed,
  type ParsedAction,
  type ReadSettings,
  type ToolNames,
  withoutThinking,
} from "./action.js";
import { findJsonCalls } from "./parse-json.js";
import { findPythonCalls } from "./parse-python.js";
import { findTaggedCalls } from "./parse-tags.js";

/** What the model hears when it went on to write what its call would return. */
export const INVENTED_NOTE =
  "the observation that you wrote yourself was ignored: stop after your call and wait for the real one";

/**
 * The calls in `text`, in order, up to the first output that the model made up. When one of them is broken none is run: what
 * comes after it may depend on it.
 *
 * @returns undefined when the text calls nothing
 */
export function readCalls(text: string, tools: ToolNames, settings: ReadSettings = {}): Parsed | undefined {
  const said = withoutThinking(text);
  const found = find(said, tools, settings);
  const [first] = found;
  if (first === undefined) return undefined;
  const limit = inventedFrom(said, first.end);
  const own = found.filter((one) => one.end <= limit || one === first);
  const broken = own.find((one) => !one.ok);
  if (broken !== undefined && !broken.ok) return { ok: false, reason: broken.reason };
  const actions = own.flatMap((one): ParsedAction[] => (one.ok ? [one.action] : []));
  return { ok: true, actions, ...(limit < said.length ? { note: INVENTED_NOTE } : {}) };
}

function find(text: string, tools: ToolNames, settings: ReadSettings): Found[] {
  const tagged = findTaggedCalls(text, tools, settings);
  if (tagged.length > 0) return tagged;
  const json = findJsonCalls(text, tools, settings);
  if (json.some((one) => one.ok)) return json;
  const code = findPythonCalls(text, tools, settings);
  return code.length > 0 ? code : json;
}
