/**
 * A pod template as Go's dumper writes the struct: what a real server hashes to name replica sets. The table of types
 * (`pod-template-types.json`) was taken by reflection from k8s.io/api: a struct is a list of [Go name, JSON name, type],
 * an empty JSON name an embedded struct; `["ptr", T]`, `["slice", T]`, `["map", T]`; else the kind of a scalar.
 */
import { readFileSync } from "node:fs";
import { packageFile } from "../../../paths.js";

type Description = string | ["ptr" | "slice" | "map", string] | [string, string, string][];

let types: Record<string, Description> | undefined;

/** `template` as `(v1.PodTemplateSpec){ObjectMeta:(v1.ObjectMeta){Name:(string) ...`. */
export function dumpTemplate(template: unknown): string {
  types ??= JSON.parse(readFileSync(packageFile("testbed/kube/controllers/pod-template-types.json"), "utf8"))
    .types as Record<string, Description>;
  return typed("v1.PodTemplateSpec", template);
}

const typed = (name: string, value: any): string => `(${name})${dump(name, value)}`;

function dump(name: string, value: any): string {
  switch (name) {
    case "resource.Quantity":
      return dumpQuantity(value);
    case "intstr.IntOrString":
      return typeof value === "string"
        ? `{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)${value}}`
        : `{Type:(intstr.Type)0 IntVal:(int32)${value ?? 0} StrVal:(string)}`;
    case "v1.Time":
      return "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}";
  }
  const description = types![name];
  if (description === undefined) throw new Error(`pod-template-types.json lacks the type ${name}`);
  if (typeof description === "string") return dumpScalar(description, value);
  if (typeof description[0] === "string") return dumpReference(description as ["ptr", string], value);
  const fields = (description as [string, string, string][]).map(
    ([go, json, type]) => `${go}:${typed(type, json === "" ? value : value?.[json])}`,
  );
  return `{${fields.join(" ")}}`;
}

function dumpReference([kind, inner]: ["ptr" | "slice" | "map", string], value: any): string {
  if (value === undefined || value === null) return "<nil>";
  if (kind === "ptr") return dump(inner, value);
  if (kind === "slice") return `[${value.map((item: any) => dump(inner, item)).join(" ")}]`;
  const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `map[${keys.map((key) => `${key}:${dump(inner, value[key])}`).join(" ")}]`;
}

function dumpScalar(kind: string, value: any): string {
  if (value !== undefined && value !== null) return String(value);
  if (kind === "string") return "";
  return kind === "bool" ? "false" : "0";
}

const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d+)|([a-zA-Z]*))$/;

/**
 * A quantity as the server holds it after parsing: an integer and a decimal scale; the text is kept only where it is
 * canonical at first sight (`ParseQuantity` in k8s.io/apimachinery).
 */
function dumpQuantity(value: string | number | undefined): string {
  const parts = (amount: string, scale: number, text: string, format: string) =>
    `{i:(resource.int64Amount){value:(int64)${amount} scale:(resource.Scale)${scale}} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${text} Format:(resource.Format)${format}}`;
  if (value === undefined) return parts("0", 0, "", "");
  const text = String(value);
  if (text === "0") return parts("0", 0, "0", "DecimalSI");
  const match = QUANTITY.exec(text);
  if (match === null) return parts("0", 0, text, "DecimalSI");
  const [, sign = "", whole = "", fraction = "", exponent, suffix = ""] = match;
  const digits = BigInt(`${whole}${fraction}` || "0");
  const signed = (n: bigint) => `${sign === "-" && n !== 0n ? "-" : ""}${n}`;
  const power = BINARY[suffix];
  if (power !== undefined) {
    const canonical = power % 10 === 0 && (digits & 7n) !== 0n && fraction === "";
    const amount =
      fraction === "" ? digits << BigInt(power) : (digits << BigInt(power)) / 10n ** BigInt(fraction.length);
    return parts(signed(amount), 0, canonical ? text : "", "BinarySI");
  }
  const scale = (exponent === undefined ? (DECIMAL[suffix] ?? 0) : Number(exponent.slice(1))) - fraction.length;
  const shifted = `${whole}${fraction}`;
  const canonical = scale % 3 === 0 && !shifted.endsWith("000") && !shifted.startsWith("0");
  return parts(signed(digits), scale, canonical ? text : "", exponent === undefined ? "DecimalSI" : "DecimalExponent");
}
