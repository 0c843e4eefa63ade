/** Limit ranges: defaults for containers that say nothing, and the refusal of pods and claims outside the bounds. */
import { forbidden } from "../errors.js";
import type { KindContext } from "../kinds/index.js";
import type { KubeObject } from "../objects.js";
import { canonicalQuantity, compareQuantities, formatQuantity, parseQuantity, quantityValue } from "../quantity.js";
import type { Admission } from "../writes.js";

const ANNOTATION = "kubernetes.io/limit-ranger";

type Amounts = Record<string, string>;
interface Resources {
  requests: Amounts;
  limits: Amounts;
}

export const limitAdmission: Admission = ({ operation, resource, object }, context) => {
  if (operation === "DELETE") return;
  const isPod = resource.key === "pods";
  if (!isPod && resource.key !== "persistentvolumeclaims") return;
  // A pod's resources are bounded when it is made; later changes are not its owner's.
  if (isPod && operation !== "CREATE") return;
  const items = itemsOf(context, object.metadata.namespace);
  if (items.length === 0) return;
  if (isPod) for (const item of items) if (item.type === "Container") applyDefaults(object, item);
  const errors = items.flatMap((item) => violations(item, object, isPod));
  if (errors.length === 0) return;
  throw forbidden(
    resource,
    object.metadata.name ?? "",
    errors.length === 1 ? (errors[0] ?? "") : `[${errors.join(", ")}]`,
  );
};

function itemsOf(context: KindContext, namespace: string | undefined): any[] {
  return context.list("limitranges", namespace).flatMap((range) => range.spec?.limits ?? []);
}

/** Fills requests and limits, and writes down which, as the real plugin does. */
function applyDefaults(pod: KubeObject, item: any): void {
  const notes: string[] = [];
  for (const [kind, containers] of [
    ["container", pod.spec.containers],
    ["init container", pod.spec.initContainers ?? []],
  ] as const) {
    for (const container of containers) {
      for (const [part, defaults] of [
        ["request", item.defaultRequest],
        ["limit", item.default],
      ] as const) {
        const names = fill(container, `${part}s`, defaults ?? {});
        if (names.length > 0) notes.push(`${names.join(", ")} ${part} for ${kind} ${container.name}`);
      }
    }
  }
  if (notes.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}`,
  };
}

function fill(container: any, part: string, defaults: Amounts): string[] {
  const missing = Object.keys(defaults).filter((name) => container.resources?.[part]?.[name] === undefined);
  if (missing.length === 0) return [];
  container.resources ??= {};
  container.resources[part] = { ...container.resources[part] };
  for (const name of missing) container.resources[part][name] = defaults[name];
  return missing.sort();
}

function violations(item: any, object: KubeObject, isPod: boolean): string[] {
  if (!isPod) {
    if (item.type !== "PersistentVolumeClaim") return [];
    const requests: Amounts = object.spec?.resources?.requests ?? {};
    return bounds(item, { requests, limits: requests }, "request");
  }
  const containers = [...object.spec.containers, ...(object.spec.initContainers ?? [])];
  if (item.type === "Container")
    return containers.flatMap((container) => bounds(item, resourcesOf(container), "limit"));
  return item.type === "Pod" ? bounds(item, sum(object.spec.containers), "limit") : [];
}

function resourcesOf(container: any): Resources {
  return { requests: container.resources?.requests ?? {}, limits: container.resources?.limits ?? {} };
}

function sum(containers: any[]): Resources {
  const total: Resources = { requests: {}, limits: {} };
  for (const container of containers) {
    for (const part of ["requests", "limits"] as const) {
      for (const [name, text] of Object.entries(resourcesOf(container)[part])) {
        const before = parseQuantity(total[part][name] ?? "0");
        const more = parseQuantity(text);
        if (before && more) total[part][name] = formatQuantity({ nano: before.nano + more.nano, format: more.format });
      }
    }
  }
  return total;
}

/** Every bound of the item that is broken; `upper` is what the maximum is compared with first. */
function bounds(item: any, { requests, limits }: Resources, upper: "limit" | "request"): string[] {
  const errors: string[] = [];
  const show = (text: string | undefined) => canonicalQuantity(text ?? "0") ?? "0";
  for (const [name, least] of Object.entries<string>(item.min ?? {})) {
    const says = `minimum ${name} usage per ${item.type} is ${show(least)}`;
    if (requests[name] === undefined) errors.push(`${says}.  No request is specified`);
    else if (compareQuantities(requests[name], least) < 0)
      errors.push(`${says}, but request is ${show(requests[name])}`);
    else if (limits[name] !== undefined && compareQuantities(limits[name], least) < 0) {
      errors.push(`${says}, but limit is ${show(limits[name])}`);
    }
  }
  for (const [name, most] of Object.entries<string>(item.max ?? {})) {
    const says = `maximum ${name} usage per ${item.type} is ${show(most)}`;
    const value = upper === "limit" ? limits[name] : requests[name];
    if (value === undefined) errors.push(`${says}.  No ${upper} is specified`);
    else if (compareQuantities(value, most) > 0) errors.push(`${says}, but ${upper} is ${show(value)}`);
    else if (requests[name] !== undefined && compareQuantities(requests[name], most) > 0) {
      errors.push(`${says}, but request is ${show(requests[name])}`);
    }
  }
  for (const [name, ratio] of Object.entries<string>(item.maxLimitRequestRatio ?? {})) {
    const says = `${name} max limit to request ratio per ${item.type} is ${show(ratio)}`;
    const request = quantityValue(requests[name]);
    const limit = quantityValue(limits[name]);
    if (request === 0) errors.push(`${says}, but no request is specified or request is 0`);
    else if (limit === 0) errors.push(`${says}, but no limit is specified or limit is 0`);
    else if (limit / request > quantityValue(ratio)) {
      errors.push(`${says}, but provided ratio is ${(limit / request).toFixed(6)}`);
    }
  }
  return errors;
}
