/**
 * Validation messages print values as the server holds them, not as clients write them: every field of the Go struct, in
 * its order, with the Go name. `internal-forms.json` lists these fields: a scalar is what stands for a missing value,
 * an object a struct (`"*"`: by pointer, so null when missing), a list of one a list of such structs.
 */
import { readFileSync } from "node:fs";
import { packageFile } from "../../../paths.js";

type Layout = null | boolean | number | string | [Layout] | { [field: string]: Layout };
type Form =
  | "daemonSetUpdateStrategy"
  | "deploymentStrategy"
  | "persistentVolumeClaimSpec"
  | "podSpec"
  | "statefulSetUpdateStrategy"
  | "podDisruptionBudgetSpec"
  | "roleRef"
  | "servicePort";

let forms: Record<Form, Layout> | undefined;

function layoutOf(form: Form): Layout {
  forms ??= JSON.parse(readFileSync(packageFile("testbed/kube/kinds/internal-forms.json"), "utf8")) as typeof forms;
  return forms![form];
}

function fill(value: any, layout: Layout): unknown {
  if (Array.isArray(layout)) return value === undefined ? null : value.map((item: any) => fill(item, layout[0]));
  if (typeof layout !== "object" || layout === null) return value === undefined ? layout : value;
  if (value === undefined && layout["*"]) return null;
  const given = new Map(Object.entries(value ?? {}).map(([key, v]) => [key.toLowerCase(), v]));
  const out: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(layout)) {
    if (name !== "*") out[name] = fill(given.get(name.toLowerCase()), inner);
  }
  return out;
}

/** `value`, as a client writes it, in the server's own form. */
export function internalForm(value: any, form: Form): unknown {
  return fill(value, layoutOf(form));
}

/** A pod template: metadata in line, and the spec with what concerns the host in its security context. */
export function internalTemplate(template: any): unknown {
  const spec = template?.spec ?? {};
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const host = { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
  const known = Object.fromEntries(Object.entries(host).filter(([, v]) => v !== undefined));
  const securityContext = { ...known, ...spec.securityContext };
  return { ...template?.metadata, Spec: internalForm({ ...spec, securityContext }, "podSpec") };
}
