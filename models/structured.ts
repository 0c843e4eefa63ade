/** Structured output: how each backend is told to answer in JSON, best way first. */

/** Backends, by what LangChain calls their kind, that take OpenAI's `response_format`. */
const RESPONSE_FORMAT = new Set(["openai", "azure_openai", "groq", "mistral_ai", "deepseek"]);

/**
 * Settings for a model call, each of which makes the backend answer in JSON: by `schema` where it can, else any object. An
 * empty list where the backend has no such mode (or LangChain no way to it): the prompt has to do then.
 *
 * @param backend `_llmType()` of the chat model
 */
export function structuredSettings(
  backend: string,
  name: string,
  schema: Record<string, unknown>,
): Record<string, unknown>[] {
  if (backend === "ollama") return [{ format: schema }, { format: "json" }];
  if (backend === "googlegenerativeai") return [{ responseSchema: schema }];
  // Anthropic wants every object closed, which a tool's free input cannot be: its other protocols serve better there.
  if (!RESPONSE_FORMAT.has(backend)) return [];
  const json_schema = { type: "json_schema", json_schema: { name, schema } };
  return [{ response_format: json_schema }, { response_format: { type: "json_object" } }];
}
