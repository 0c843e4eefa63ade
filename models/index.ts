/** Chat-model backends: from `provider:model` to something that can be called. */

export { checkModel, type ModelCheck, type ModelReport } from "./check.js";
export { loadModelsFile, type ModelEntry, type ModelParameters, type ModelsFile } from "./config.js";
export {
  MissingKeyError,
  MissingPackageError,
  ModelError,
  type ModelErrorKind,
  ModelsFileError,
  toModelError,
  UnknownModelError,
} from "./errors.js";
export type { Terminal } from "./human.js";
export { createMasker } from "./mask.js";
export { costOf, type Price } from "./price.js";
export { PROVIDERS, type Provider } from "./providers.js";
export { type RateLimit, RateLimiter, sleep } from "./rate-limit.js";
export { Recorder, RecordingError } from "./record.js";
export { DEFAULT_PARAMETERS, type ResolvedModel, type ResolveOptions, resolveModel } from "./registry.js";
export { DEFAULT_RETRY, type RetryOptions, retryingFetch } from "./retry.js";
export { structuredSettings } from "./structured.js";
