/**
 * Reads objects in Kubernetes' protobuf form, which kubectl's typed clients send (`kubectl create deployment`,
 * `kubectl autoscale`). They are read only: answers are JSON, which every such client accepts too.
 */
import { readFileSync } from "node:fs";
import { packageFile } from "../../../paths.js";
import { schemaTable } from "../schema/table.js";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

interface FieldInfo {
  name: string;
  type: string;
  repeated: boolean;
  map: boolean;
  /** The fields of this message stand in its holder's JSON. */
  inline: boolean;
}
type Messages = Map<string, Map<number, FieldInfo>>;

let shared: Messages | undefined;

/** The field numbers never change, so that all servers of a process share one table. */
function messages(): Messages {
  if (shared === undefined) {
    const raw: Record<string, Record<string, string>> = JSON.parse(
      readFileSync(packageFile("testbed", "kube", "schema", "protobuf.json"), "utf8"),
    );
    shared = new Map(
      Object.entries(raw).map(([name, fields]) => [
        name,
        new Map(
          Object.entries(fields).map(([number, text]) => {
            const [field = "", type = ""] = text.split(" ");
            const repeated = type.startsWith("*");
            const map = type.startsWith("{}");
            const fields = schemaTable().types[name]?.p;
            const json = fields && !(field in fields) && lower(field) in fields ? lower(field) : field;
            const inline = fields !== undefined && !(json in fields) && type.includes(".");
            return [
              Number(number),
              { name: json, inline, type: type.slice(repeated ? 1 : map ? 2 : 0), repeated, map },
            ];
          }),
        ),
      ]),
    );
  }
  return shared;
}

/** The object in `bytes` as plain JSON. @throws Error when it is not in this form, or of an unknown kind */
export function decodeProtobuf(bytes: Uint8Array): any {
  if (Buffer.from(bytes.subarray(0, 4)).toString("latin1") !== "k8s\0") {
    throw new Error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  let apiVersion = "";
  let kind = "";
  let raw: Uint8Array = new Uint8Array();
  for (const { number, value } of fields(bytes.subarray(4))) {
    if (number === 1) {
      for (const part of fields(value as Uint8Array)) {
        if (part.number === 1) apiVersion = text(part.value as Uint8Array);
        if (part.number === 2) kind = text(part.value as Uint8Array);
      }
    } else if (number === 2) raw = value as Uint8Array;
  }
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const name =
    schemaTable().byKind.get(`${group}/${version}/${kind}`) ??
    (messages().has(`apimachinery.pkg.apis.meta.v1.${kind}`) ? `apimachinery.pkg.apis.meta.v1.${kind}` : undefined);
  if (name === undefined || !messages().has(name))
    throw new Error(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return { apiVersion, kind, ...decodeMessage(raw, name) };
}

const SPECIAL: Record<string, (bytes: Uint8Array) => unknown> = {
  "apimachinery.pkg.api.resource.Quantity": (bytes) => {
    for (const { number, value } of fields(bytes)) if (number === 1) return text(value as Uint8Array);
    return "0";
  },
  "apimachinery.pkg.util.intstr.IntOrString": (bytes) => {
    let isText = false;
    let int = 0;
    let string = "";
    for (const { number, value } of fields(bytes)) {
      if (number === 1) isText = value === 1n;
      if (number === 2) int = signed(value as bigint);
      if (number === 3) string = text(value as Uint8Array);
    }
    return isText ? string : int;
  },
  "apimachinery.pkg.apis.meta.v1.Time": (bytes) => time(bytes, false),
  "apimachinery.pkg.apis.meta.v1.MicroTime": (bytes) => time(bytes, true),
  "apimachinery.pkg.apis.meta.v1.FieldsV1": json,
  "apimachinery.pkg.runtime.RawExtension": json,
  "apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON": json,
};

function json(bytes: Uint8Array): unknown {
  for (const { number, value } of fields(bytes)) if (number === 1) return JSON.parse(text(value as Uint8Array));
  return null;
}

function time(bytes: Uint8Array, micro: boolean): string | null {
  let seconds = 0;
  let nanos = 0;
  for (const { number, value } of fields(bytes)) {
    if (number === 1) seconds = signed(value as bigint);
    if (number === 2) nanos = signed(value as bigint);
  }
  if (bytes.length === 0) return null;
  const base = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micro ? `${base}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z` : `${base}Z`;
}

function decodeMessage(bytes: Uint8Array, name: string): any {
  const special = SPECIAL[name];
  if (special) return special(bytes);
  const known = messages().get(name);
  const out: Record<string, any> = {};
  for (const { number, value } of fields(bytes)) {
    const field = known?.get(number);
    if (field === undefined) continue;
    if (field.inline) Object.assign(out, decodeOne(value, field.type));
    else if (field.map) {
      let key = "";
      let item: unknown = field.type === "string" ? "" : undefined;
      for (const part of fields(value as Uint8Array)) {
        if (part.number === 1) key = text(part.value as Uint8Array);
        if (part.number === 2) item = decodeOne(part.value, field.type);
      }
      out[field.name] ??= {};
      out[field.name][key] = item;
    } else if (field.repeated) {
      out[field.name] ??= [];
      out[field.name].push(decodeOne(value, field.type));
    } else out[field.name] = decodeOne(value, field.type);
  }
  // A list that has a name of its own is still a list in JSON.
  const names = Object.keys(out);
  if (/\.(ExtraValue|Verbs)$/.test(name)) return out[names[0] ?? ""] ?? [];
  return out;
}

function decodeOne(value: bigint | Uint8Array, type: string): unknown {
  switch (type) {
    case "string":
      return text(value as Uint8Array);
    case "bytes":
      return Buffer.from(value as Uint8Array).toString("base64");
    case "bool":
      return value === 1n;
    case "int32":
    case "int64":
      return signed(value as bigint);
    case "double":
      return Buffer.from(value as Uint8Array).readDoubleLE();
    default:
      return decodeMessage(value as Uint8Array, type);
  }
}

function lower(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
function signed(value: bigint): number {
  return Number(BigInt.asIntN(64, value));
}

/** The fields of a message: varints as bigint, everything else as bytes. */
function* fields(bytes: Uint8Array): Iterable<{ number: number; value: bigint | Uint8Array }> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new Error("proto: unexpected EOF");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new Error("proto: unexpected EOF");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = varint();
    const number = Number(key >> 3n);
    switch (Number(key & 7n)) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: take(8) };
        break;
      case 2:
        yield { number, value: take(Number(varint())) };
        break;
      case 5:
        yield { number, value: take(4) };
        break;
      default:
        throw new Error(`proto: illegal wireType ${key & 7n}`);
    }
  }
}
