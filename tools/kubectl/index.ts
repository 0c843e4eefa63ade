/**
 * The agents' kubectl: parses the command itself, never through a shell, judges it, and speaks REST (`builtin`) or
 * starts the real program (`native`).
 */
export { Discovery, type Resource, resourcePath } from "./client/discovery.js";
export { MAX_READ_BYTES, RestClient } from "./client/rest.js";
export { type Pipeline, parseCommandLine, type Unparsed } from "./command-line.js";
export { ApiError, errorText, KubectlError } from "./errors.js";
export { filterNames } from "./filters/index.js";
export { guard, type Policy, type Verdict } from "./guard.js";
export { KubectlLinter, type KubectlLinterOptions } from "./lint/index.js";
export { KubectlMissingError } from "./native.js";
export { Kubectl, type KubectlOptions, type KubectlResult, runKubectl } from "./run.js";
