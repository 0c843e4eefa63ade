/** Events: stored as core/v1, served as events.k8s.io/v1 too. */
import { invalidValue } from "../errors.js";
import { since } from "./print.js";
import { type KindRules, NAME_COLUMN, text } from "./rules.js";

export const event: KindRules = {
  createOnUpdate: true,
  fields: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  validate(object) {
    const place = object.involvedObject?.namespace ?? "";
    const home = place === "" ? "default" : place;
    if (object.metadata.namespace === home || object.metadata.namespace === place) return [];
    return [invalidValue("involvedObject.namespace", place, "does not match event.namespace")];
  },
  fieldValue(object, field) {
    if (field === "source") return object.source?.component || object.reportingComponent || "";
    if (field.startsWith("involvedObject.")) return object.involvedObject?.[field.slice(15)] ?? "";
    return object[field] ?? "";
  },
  columns: [
    text("Last Seen"),
    text("Type"),
    text("Reason"),
    text("Object"),
    text("Subobject", 1),
    text("Source", 1),
    text("Message"),
    text("First Seen", 1),
    text("Count", 1),
    { ...NAME_COLUMN, priority: 1 },
  ],
  row(object, now) {
    const first = object.firstTimestamp ?? object.eventTime;
    let last = object.lastTimestamp ?? first;
    let count = object.count || 1;
    if (object.series) {
      last = object.series.lastObservedTime ?? last;
      count = object.series.count;
    }
    const target = object.involvedObject ?? {};
    return [
      since(last, now),
      object.type ?? "",
      object.reason ?? "",
      target.name
        ? `${String(target.kind ?? "").toLowerCase()}/${target.name}`
        : String(target.kind ?? "").toLowerCase(),
      target.fieldPath ?? "",
      source(object),
      String(object.message ?? "").trim(),
      since(first, now),
      count,
      object.metadata.name,
    ];
  },
};

function source(object: any): string {
  const component = object.source?.component || object.reportingComponent || "";
  const host = object.source?.host || object.reportingInstance || "";
  return host ? `${component}, ${host}` : component;
}

/** events.k8s.io/v1 -> v1. */
export function eventFromGroup(o: any): any {
  const out: any = { ...o, apiVersion: "v1", involvedObject: o.regarding ?? {}, message: o.note ?? "" };
  out.reportingComponent = o.reportingController ?? "";
  out.source = o.deprecatedSource ?? {};
  out.firstTimestamp = o.deprecatedFirstTimestamp ?? null;
  out.lastTimestamp = o.deprecatedLastTimestamp ?? null;
  if (o.deprecatedCount) out.count = o.deprecatedCount;
  for (const key of [
    "regarding",
    "note",
    "reportingController",
    "deprecatedSource",
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
    "deprecatedCount",
  ]) {
    delete out[key];
  }
  return out;
}

/** v1 -> events.k8s.io/v1. */
export function eventToGroup(o: any): any {
  const out: any = { ...o, apiVersion: "events.k8s.io/v1", regarding: o.involvedObject ?? {}, note: o.message ?? "" };
  out.reportingController = o.reportingComponent ?? "";
  out.deprecatedSource = o.source ?? {};
  out.deprecatedFirstTimestamp = o.firstTimestamp ?? null;
  out.deprecatedLastTimestamp = o.lastTimestamp ?? null;
  if (o.count) out.deprecatedCount = o.count;
  for (const key of [
    "involvedObject",
    "message",
    "reportingComponent",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
  ])
    delete out[key];
  return out;
}
