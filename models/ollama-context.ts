/**
 * Ollama's default context (a few thousand tokens) silently drops the beginning of an agent's conversation, so a longer
 * one is asked for unless the user says otherwise.
 */
export const DEFAULT_NUM_CTX = 32_768;
