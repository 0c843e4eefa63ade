/** Chat models of other packages, which bring their own clients: retries, time limits and typed errors around their calls. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { toModelError } from "./errors.js";
import { Failure, type RetryOptions, retryAfter, retrying } from "./retry.js";
import { wrapModel } from "./wrap.js";

/** `chat` with our retries instead of its own, so that all backends wait alike and Retry-After is honoured. */
export function withRetries(chat: BaseChatModel, options: RetryOptions): BaseChatModel {
  return wrapModel(chat, ({ signal }, call) =>
    retrying(
      async () => {
        const timeout = AbortSignal.timeout(options.timeoutSeconds * 1000);
        try {
          return await call(signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
        } catch (error) {
          if (signal?.aborted) throw error;
          const late = timeout.aborted ? `no answer within ${options.timeoutSeconds} s` : undefined;
          return new Failure(toModelError(late === undefined ? error : new Error(`timeout: ${late}`)), waitOf(error));
        }
      },
      options,
      signal,
    ),
  );
}

/** Milliseconds that the answer behind an error asks to wait; clients keep its headers in one of two places. */
function waitOf(error: unknown): number | undefined {
  const { headers, response } = error as { headers?: unknown; response?: { headers?: unknown } };
  for (const found of [headers, response?.headers]) {
    if (found instanceof Headers) return retryAfter(found);
    if (typeof found === "object" && found !== null) {
      return retryAfter(
        new Headers(Object.entries(found).filter((pair): pair is [string, string] => typeof pair[1] === "string")),
      );
    }
  }
  return undefined;
}
