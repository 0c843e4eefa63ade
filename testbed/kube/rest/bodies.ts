/** What the server makes of a request's body: the object in it, or why it is refused, in the words of a real server. */
import { parse as parseYaml } from "yaml";
import { badRequest, invalid, StatusError } from "../errors.js";
import { jsonProblem } from "../json.js";
import { apiVersionOf, type ResourceInfo } from "../resources.js";
import { duplicateFields } from "../schema/decode.js";
import type { WriteRequest } from "../writes.js";
import type { Call } from "./router.js";

/** Where a real server says that the registry of its kinds lives. */
const SCHEME = "pkg/runtime/scheme.go:110";
/** Versions that a server still reads, but no longer serves. */
const FORMER_VERSIONS = new Set([
  "apps/v1beta1",
  "apps/v1beta2",
  "autoscaling/v2beta1",
  "autoscaling/v2beta2",
  "batch/v1beta1",
  "coordination.k8s.io/v1beta1",
  "discovery.k8s.io/v1beta1",
  "events.k8s.io/v1beta1",
  "extensions/v1beta1",
  "networking.k8s.io/v1beta1",
  "policy/v1beta1",
  "rbac.authorization.k8s.io/v1alpha1",
  "rbac.authorization.k8s.io/v1beta1",
  "scheduling.k8s.io/v1beta1",
  "storage.k8s.io/v1beta1",
]);
const SUMMARY = 30;
const TYPE_META = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;

/** The start of a body, as text when it looks like an object, in hex otherwise. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = Buffer.from(text);
  const shown = bytes.subarray(0, SUMMARY);
  const more = bytes.length > SUMMARY ? " ..." : "";
  return `${text.startsWith("{") ? shown.toString() : shown.toString("hex")}${more}`;
}

function unrecognized(info: ResourceInfo, text: string, why: string): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${info.kind}): ${why} (${summary(text)})`);
}

/** What the YAML library says, in the words of Go's. */
function yamlProblem(error: unknown): string {
  const message = error instanceof Error ? error.message.split("\n")[0]! : String(error);
  if (/Nested mappings are not allowed/.test(message)) return "yaml: mapping values are not allowed in this context";
  const line = /at line (\d+)/.exec(message)?.[1];
  return `yaml: ${line ? `line ${line}: ` : ""}${message.replace(/ at line \d+, column \d+:?$/, "")}`;
}

function parse(info: ResourceInfo, type: string, text: string, request: WriteRequest): any {
  if (type === "application/yaml") {
    try {
      return parseYaml(text);
    } catch (error) {
      throw unrecognized(info, text, yamlProblem(error));
    }
  }
  if (type !== "application/json" && type !== "") {
    throw new StatusError(
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    const why = text.trim() === "" ? "unexpected end of JSON input" : jsonProblem(error, text);
    throw unrecognized(info, text, `couldn't get version/kind; json parse error: ${why}`);
  }
  const twice = duplicateFields(text);
  if (twice.length > 0) request.onUnknown?.(twice);
  return body;
}

/** The object in the body, of the version that the path names. @throws StatusError 400 */
export function bodyObject(call: Call, request: WriteRequest): any {
  const { info } = call.target;
  const text = call.request.body ?? "";
  const type = (call.request.headers["content-type"] ?? "application/json").split(";")[0]!.trim();
  const body = parse(info, type, text, request);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    const what = Array.isArray(body) ? "array" : body === null ? "null" : typeof body;
    throw unrecognized(
      info,
      text,
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type ${TYPE_META}`,
    );
  }
  checkKind(call, body);
  return body;
}

/** Is the body of the kind and version that the path names? Either may be left out. */
function checkKind(call: Call, body: any): void {
  const { info } = call.target;
  const apiVersion = String(body.apiVersion || apiVersionOf(info));
  const kind = String(body.kind || info.kind);
  if (apiVersion === apiVersionOf(info) && kind === info.kind) return;
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  if (info.definition && apiVersion === apiVersionOf(info)) {
    const message = `Invalid value: ${JSON.stringify(kind)}: must be ${info.kind}`;
    throw invalid(info.group, kind, body.metadata?.name ?? "", [{ type: "FieldValueInvalid", field: "kind", message }]);
  }
  if (kind === info.kind && FORMER_VERSIONS.has(apiVersion)) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${apiVersionOf(info)})`,
    );
  }
  const other = call.server.registry.all().find((i) => apiVersionOf(i) === apiVersion && i.kind === kind);
  const why = other
    ? `converting (${goPackage(other.group, other.version)}.${kind}) to (${goPackage(info.group, "core")}.${info.kind}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(SCHEME)}`;
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${info.kind}: ${why}`);
}

/** Types of a served version live in a package named for it, those that the server works with in one of the group. */
function goPackage(group: string, version: string): string {
  return version === "core" ? group.split(".")[0] || "core" : version;
}
