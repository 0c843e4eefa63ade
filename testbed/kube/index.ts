/** The simulated Kubernetes API. */
export type { DeleteOptions, EventDetail, KubeApi, WriteOptions } from "./api.js";
export { StatusError } from "./errors.js";
export * from "./objects.js";
export { compareQuantities, formatQuantity, parseQuantity, quantityValue } from "./quantity.js";
export type { Identity, TokenOptions } from "./rest/access.js";
export type { ApiRequest, ApiResponse } from "./rest/http.js";
export * from "./runtime.js";
export { labelsMatch, parseSelector, selectorOf } from "./selectors.js";
export { ApiServer, type ApiServerOptions, type PodLogs, type PodUsage } from "./server.js";
export type { Admission, AdmissionRequest } from "./writes.js";
