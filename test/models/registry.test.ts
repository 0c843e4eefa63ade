import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { costOf, createMasker, loadModelsFile, resolveModel } from "../../models/index.js";
import { json, serve } from "../support/http.js";

const folder = mkdtempSync(join(tmpdir(), "itbench-models-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const path = join(mkdtempSync(join(folder, "f-")), "models.yaml");
  writeFileSync(path, text);
  return path;
}

const entry = file(`
models:
  ours:
    provider: openai
    model: qwen2.5-72b
    base_url: http://127.0.0.1:9/v1
    api_key_env: OUR_KEY
    parameters: {temperature: 0.3, max_tokens: 900}
    price: {input: 0.5, output: 1.5, cached: 0.1}
    context_window: 16000
    headers: {x-team: secret-team-header}
  open:
    provider: ollama
    model: llama3.3:70b
    parameters: {num_ctx: 65536}
`);

const azure = file(`
models:
  azure:
    provider: azure_openai
    model: gpt-4o
    deployment: ours
    api_version: "2024-06-01"
`);

describe("resolveModel", () => {
  it.each([
    { name: "openai:gpt-4o", env: { OPENAI_API_KEY: "k" }, is: { provider: "openai", model: "gpt-4o", isLlm: true } },
    {
      name: "openai:gpt-4o",
      env: { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" },
      is: { baseUrl: "http://127.0.0.1:9/v1", secrets: [] },
    },
    { name: "ollama:llama3.3:70b", env: {}, is: { provider: "ollama", model: "llama3.3:70b" } },
    { name: "ollama:x", env: { OLLAMA_HOST: "http://127.0.0.1:9" }, is: { baseUrl: "http://127.0.0.1:9" } },
    { name: "azure_openai:x", env: { AZURE_OPENAI_API_KEY: "" }, fails: "AZURE_OPENAI_API_KEY" },
    { name: "openai:gpt-4o", env: {}, fails: "OPENAI_API_KEY" },
    { name: "openai:gpt-4o", env: { OPENAI_BASE_URL: "https://api.openai.com/v1" }, fails: "OPENAI_API_KEY" },
    { name: "nope:x", env: {}, fails: /unknown provider "nope".*openai, ollama/ },
    { name: "gpt-4o", env: {}, fails: /unknown model "gpt-4o".*playbook/ },
    { name: "openai:", env: {}, fails: /unknown model/ },
    { name: "constructor:x", env: {}, fails: /unknown provider/ },
    { name: "anthropic:claude", env: { ANTHROPIC_API_KEY: "k" }, fails: /npm install @langchain\/anthropic/ },
    { name: "google-genai:g", env: { GOOGLE_API_KEY: "k" }, fails: /npm install @langchain\/google-genai/ },
    { name: "bedrock:b", env: {}, fails: /npm install @langchain\/aws/ },
    {
      name: "watsonx:w",
      env: { WATSONX_AI_APIKEY: "k", WATSONX_AI_PROJECT_ID: "p" },
      is: { provider: "watsonx", secrets: ["k"] },
    },
    { name: "watsonx:w", env: { WATSONX_AI_APIKEY: "k" }, fails: "a project: set the environment variable WATSONX_AI" },
    { name: "azure_openai:x", env: { AZURE_OPENAI_API_KEY: "k" }, fails: "AZURE_OPENAI_ENDPOINT" },
    { name: "groq:llama", env: {}, fails: "GROQ_API_KEY" },
    { name: "groq:llama", env: { GROQ_API_KEY: "k" }, is: { provider: "groq", model: "llama", secrets: ["k"] } },
    { name: "mistralai:m", env: { MISTRAL_API_KEY: "k" }, is: { provider: "mistralai" } },
    { name: "openrouter:a/b:free", env: { OPENROUTER_API_KEY: "k" }, is: { model: "a/b:free" } },
    { name: "human", env: {}, is: { provider: "human", isLlm: false } },
    { name: "ollama:x", env: {}, is: { contextWindow: 32768 } },
    { name: "watsonx:granite", env: {}, fails: "WATSONX_AI_APIKEY" },
  ])("$name with $env", async ({ name, env, is, fails }) => {
    const resolved = resolveModel(name, { env: { HOME: folder, ...env } });
    if (fails !== undefined) await expect(resolved).rejects.toThrow(fails);
    else expect(await resolved).toMatchObject(is!);
  });

  it("takes a named entry with its parameters, price and key", async () => {
    const resolved = await resolveModel("ours", { modelsFile: entry, env: { OUR_KEY: "our-secret-key" } });
    expect(resolved).toMatchObject({
      name: "ours",
      model: "qwen2.5-72b",
      parameters: { temperature: 0.3, seed: 42, max_tokens: 900 },
      price: { input: 0.5, output: 1.5, cached: 0.1 },
      contextWindow: 16_000,
      secrets: ["our-secret-key", "secret-team-header"],
    });
    await expect(resolveModel("ours", { modelsFile: entry, env: {} })).rejects.toThrow(
      "set the environment variable OUR_KEY",
    );
    await expect(resolveModel("theirs", { modelsFile: entry, env: {} })).rejects.toThrow(/ours, open/);
  });

  it("makes a provider of LangChain's, which answers", async () => {
    const server = await serve((_, response) =>
      json(response, { choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }] }),
    );
    try {
      const options = { env: { AZURE_OPENAI_API_KEY: "azure-key" }, baseUrl: server.url, modelsFile: azure };
      const { chat } = await resolveModel("azure", options);
      expect((await chat.invoke("hello")).text).toBe("hi");
      const { url, headers, body } = server.requests[0]!;
      expect(url.pathname).toBe("/openai/deployments/ours/chat/completions");
      expect(headers["api-key"]).toBe("azure-key");
      expect(body).toMatchObject({ temperature: 0, seed: 42 });
    } finally {
      await server.close();
    }
  });

  it("gives the playbook, which is no LLM", async () => {
    expect(await resolveModel("playbook")).toMatchObject({ provider: "playbook", isLlm: false });
  });
});

describe("models file", () => {
  it.each([
    { text: "models: [", says: "not valid YAML" },
    { text: "ours: {}", says: /top level: .*Expected "models:"/ },
    { text: "models:\n  a: {provider: openai}", says: "models.a.model: Required" },
    {
      text: "models:\n  a: {provider: openai, model: x, temprature: 1}",
      says: /models\.a: Unrecognized key.*temprature/,
    },
    { text: "models:\n  a: {provider: openai, model: x, base_url: localhost}", says: "models.a.base_url: Invalid url" },
    {
      text: "models:\n  a: {provider: openai, model: x, parameters: {temperature: hot}}",
      says: "models.a.parameters.temperature",
    },
  ])("says where $text is wrong", ({ text, says }) => {
    const path = file(text);
    expect(() => loadModelsFile(path)).toThrow(says);
    expect(() => loadModelsFile(path)).toThrow(path);
  });

  it("says when it is missing, and looks in the user's configuration when none is named", () => {
    expect(() => loadModelsFile(join(folder, "gone.yaml"))).toThrow("ENOENT");
    expect(loadModelsFile(undefined, { HOME: folder })).toBeUndefined();
    const home = mkdtempSync(join(folder, "home-"));
    mkdirSync(join(home, ".config", "itbench"), { recursive: true });
    writeFileSync(join(home, ".config", "itbench", "models.yaml"), "models: {a: {provider: ollama, model: b}}");
    expect(loadModelsFile(undefined, { HOME: home })?.models.a).toEqual({ provider: "ollama", model: "b" });
  });
});

describe("price and masks", () => {
  it("counts cached tokens at their own price", () => {
    const tokens = { inputTokens: 1_000_000, outputTokens: 100_000, cachedTokens: 400_000 };
    expect(costOf({ input: 2, output: 10, cached: 1 }, tokens)).toBeCloseTo(0.6 * 2 + 0.4 + 1);
    expect(costOf({ input: 2, output: 10 }, tokens)).toBeCloseTo(3);
  });

  it.each([
    ["key our-secret-key here", "key *** here"],
    ["Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer ***"],
    ["sk-proj-abcdefghijklmnopqrstuvwx", "sk-***"],
    ["eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhYmMifQ.c2lnbmF0dXJl", "eyJ***"],
    [
      "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
      "-----BEGIN RSA PRIVATE KEY-----\n***\n-----END RSA PRIVATE KEY-----",
    ],
    ["an ordinary text with sk-1 and a Bearer of news", "an ordinary text with sk-1 and a Bearer of news"],
  ])("masks %j", (text, masked) => {
    expect(createMasker(["our-secret-key", "abc"])(text)).toBe(masked);
  });
});
