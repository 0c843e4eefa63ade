/** Tries a model: whether it answers, calls a tool, answers in JSON, streams and counts its tokens. */
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { toModelError } from "./errors.js";
import type { ResolvedModel } from "./registry.js";
import { structuredSettings } from "./structured.js";

export interface ModelCheck {
  what: "answers" | "tool call" | "structured output" | "token counts";
  ok: boolean;
  /** What came, or what went wrong. */
  detail: string;
}

export interface ModelReport {
  checks: ModelCheck[];
  /** The protocols that this model can be run with, best first. */
  protocols: string[];
}

const add = tool(async () => "", {
  name: "add",
  description: "Adds two numbers.",
  schema: z.object({ a: z.number().describe("first number"), b: z.number().describe("second number") }),
});

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, population: { type: "number" } },
  required: ["city", "population"],
};

/** Makes two or three small requests. Never throws for what the backend does. */
export async function checkModel(model: ResolvedModel, signal?: AbortSignal): Promise<ModelReport> {
  const config = signal === undefined ? {} : { signal };
  const checks: ModelCheck[] = [];
  let reachable = true;
  let counted: boolean | undefined;
  const attempt = async (what: ModelCheck["what"], run: () => Promise<Omit<ModelCheck, "what">>) => {
    try {
      checks.push({ what, ...(await run()) });
    } catch (error) {
      if (signal?.aborted) throw error;
      const failure = toModelError(error);
      if (["unreachable", "auth", "not-found", "timeout"].includes(failure.kind)) reachable = false;
      checks.push({ what, ok: false, detail: `${failure.kind}: ${failure.message}` });
    }
  };

  await attempt("tool call", async () => {
    const bound = model.chat.bindTools!([add]);
    const answer = await bound.invoke(
      [new SystemMessage("You use tools."), new HumanMessage("Call the tool add with a = 19 and b = 23.")],
      config,
    );
    counted = (answer.usage_metadata?.input_tokens ?? 0) > 0;
    const [call] = answer.tool_calls ?? [];
    if (call === undefined) {
      const broken = answer.invalid_tool_calls?.[0];
      if (broken !== undefined)
        return { ok: false, detail: `its arguments are not valid JSON: ${clip(broken.args ?? "")}` };
      return { ok: false, detail: `it answered in text: ${clip(answer.text) || "(nothing)"}` };
    }
    const args = JSON.stringify(call.args);
    const right = call.name === "add" && Number(call.args.a) === 19 && Number(call.args.b) === 23;
    return { ok: right, detail: `${right ? "" : "it called something else: "}${call.name}(${clip(args)})` };
  });
  if (!reachable) {
    return { checks: [{ what: "answers", ok: false, detail: checks[0]!.detail }], protocols: [] };
  }

  const modes = structuredSettings(model.chat._llmType(), "city", SCHEMA);
  await attempt("structured output", async () => {
    if (modes.length === 0) return { ok: false, detail: "this backend has no mode for it" };
    const question = 'Answer with a JSON object with the keys "city" and "population" for Paris.';
    const answer = await model.chat.bindTools!([], modes[0]!).invoke([new HumanMessage(question)], config);
    const value: unknown = parseObject(answer.text);
    const fits = z.object({ city: z.string(), population: z.number() }).safeParse(value).success;
    return { ok: fits, detail: `${fits ? "" : "it does not fit the schema: "}${clip(answer.text) || "(nothing)"}` };
  });
  await attempt("answers", async () => {
    const answer = await model.chat.invoke([new HumanMessage("Answer with the word ready.")], config);
    counted ||= (answer.usage_metadata?.input_tokens ?? 0) > 0;
    return { ok: answer.text.trim() !== "", detail: clip(answer.text) || "(nothing)" };
  });
  const counts = counted === true;
  checks.push({
    what: "token counts",
    ok: counts,
    detail: counts ? "reported with each answer" : "none: limits of tokens and cost cannot hold",
  });
  const ok = (what: ModelCheck["what"]) => checks.some((check) => check.what === what && check.ok);
  const protocols = [
    ...(ok("tool call") ? ["tool-calling"] : []),
    ...(ok("structured output") ? ["json-action"] : []),
    ...(ok("answers") ? ["react-text", ...(ok("structured output") ? [] : ["json-action"])] : []),
  ];
  return { checks, protocols };
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
