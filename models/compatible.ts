/** Hosted services that speak OpenAI's protocol: no package of their own is needed for them. */

export interface CompatibleService {
  about: string;
  /** With the version, as OpenAI clients want it. */
  baseUrl: string;
  keyVariable: string;
}

export const COMPATIBLE_SERVICES: Record<string, CompatibleService> = {
  groq: { about: "Groq", baseUrl: "https://api.groq.com/openai/v1", keyVariable: "GROQ_API_KEY" },
  mistralai: { about: "Mistral", baseUrl: "https://api.mistral.ai/v1", keyVariable: "MISTRAL_API_KEY" },
  deepseek: { about: "DeepSeek", baseUrl: "https://api.deepseek.com/v1", keyVariable: "DEEPSEEK_API_KEY" },
  openrouter: { about: "OpenRouter", baseUrl: "https://openrouter.ai/api/v1", keyVariable: "OPENROUTER_API_KEY" },
  together: { about: "Together AI", baseUrl: "https://api.together.xyz/v1", keyVariable: "TOGETHER_API_KEY" },
  fireworks: {
    about: "Fireworks AI",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyVariable: "FIREWORKS_API_KEY",
  },
  xai: { about: "xAI", baseUrl: "https://api.x.ai/v1", keyVariable: "XAI_API_KEY" },
};
