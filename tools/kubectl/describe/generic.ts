/** Any other kind: its fields, with their names made readable. */
import { goPlain } from "../printers/go-value.js";
import { events, heading, labelsAndAnnotations, sortedKeys } from "./common.js";
import type { Describing } from "./describer.js";
import type { Description } from "./writer.js";

const ACRONYMS = new Set(["API", "URL", "UID", "OSB", "GUID"]);
const SKIPPED = new Set([
  ".metadata.managedFields",
  ".metadata.name",
  ".metadata.namespace",
  ".metadata.labels",
  ".metadata.annotations",
]);

/** `lastTransitionTime` -> `Last Transition Time`. */
function label(field: string): string {
  if (/[^\p{L}-]/u.test(field)) return field;
  const parts = field.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z0-9]+/g) ?? [field];
  return parts
    .map((part) =>
      ACRONYMS.has(part.toUpperCase()) ? part.toUpperCase() : part.charAt(0).toUpperCase() + part.slice(1),
    )
    .join(" ");
}

function content(w: Description, level: number, value: any, prefix: string): void {
  for (const field of sortedKeys(value)) {
    const path = `${prefix}.${field}`;
    if (SKIPPED.has(path)) continue;
    const item = value[field];
    if (Array.isArray(item)) {
      w.line(level, `${label(field)}:`);
      for (const child of item)
        if (child !== null && typeof child === "object" && !Array.isArray(child)) content(w, level + 1, child, path);
        else w.line(level + 1, goPlain(child));
    } else if (item !== null && typeof item === "object") {
      w.line(level, `${label(field)}:`);
      content(w, level + 1, item, path);
    } else w.field(level, label(field), goPlain(item));
  }
}

export async function describeAny(w: Description, object: any, d: Describing): Promise<void> {
  heading(w, object);
  labelsAndAnnotations(w, object.metadata);
  content(w, 0, object, "");
  await events(w, d);
}
