/** Server-side tables: the columns that `kubectl get` prints. */
import { at } from "../json.js";
import { humanDuration } from "../kinds/print.js";
import { AGE_COLUMN, type Column, NAME_COLUMN } from "../kinds/rules.js";
import type { KubeObject } from "../objects.js";
import type { ResourceInfo } from "../resources.js";

const DEFAULT_COLUMNS: Column[] = [NAME_COLUMN, { name: "Created At", type: "date" }];

interface Printer {
  columns: readonly Column[];
  row(object: KubeObject, now: number): unknown[];
}

function printerOf(info: ResourceInfo): Printer {
  if (info.definedVersion) return customPrinter(info);
  if (info.rules.columns && info.rules.row) return { columns: info.rules.columns, row: info.rules.row };
  return {
    columns: DEFAULT_COLUMNS,
    row: (object) => [object.metadata.name, object.metadata.creationTimestamp ?? null],
  };
}

/** The table of some objects, which are of the stored version. */
export function makeTable(
  info: ResourceInfo,
  objects: readonly KubeObject[],
  now: number,
  include: string,
  listMeta: Record<string, unknown>,
  convert: (object: KubeObject) => any,
  withColumns = true,
): object {
  const printer = printerOf(info);
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: listMeta,
    columnDefinitions: withColumns
      ? printer.columns.map((c) => ({
          name: c.name,
          type: c.type,
          format: c.format ?? "",
          description: "",
          priority: c.priority ?? 0,
        }))
      : [],
    // A server whose kind has no columns of its own says null for no rows.
    rows:
      objects.length === 0 && printer.columns === DEFAULT_COLUMNS
        ? null
        : objects.map((object) => ({
            cells: printer.row(object, now),
            object: include === "None" ? null : include === "Object" ? convert(object) : partial(object),
          })),
  };
}

/** The table of a scale subresource. */
export function scaleTable(scale: any, now: number): object {
  const column = (name: string, type: string) => ({ name, type, format: "", description: "", priority: 0 });
  const { name, creationTimestamp, resourceVersion } = scale.metadata;
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion },
    columnDefinitions: [
      column("Name", "string"),
      column("Desired", "integer"),
      column("Available", "integer"),
      column("Age", "string"),
    ],
    rows: [
      {
        cells: [name, scale.spec.replicas ?? 0, scale.status.replicas ?? 0, ageOf(creationTimestamp, now)],
        object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: scale.metadata },
      },
    ],
  };
}

/** Metadata only. */
export function partial(object: KubeObject): object {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

/** Columns of a custom resource: its definition's, or its age. */
function customPrinter(info: ResourceInfo): Printer {
  const extra: any[] = info.definedVersion.additionalPrinterColumns ?? [];
  if (extra.length === 0) {
    return {
      columns: [NAME_COLUMN, { ...AGE_COLUMN, type: "date" }],
      row: (o, now) => [o.metadata.name, ageOf(o.metadata.creationTimestamp, now)],
    };
  }
  return {
    columns: [
      NAME_COLUMN,
      ...extra.map((c) => ({ name: c.name, type: c.type, format: c.format, priority: c.priority })),
    ],
    row: (object, now) => [
      object.metadata.name,
      ...extra.map((c) => {
        const value = pick(object, c.jsonPath);
        if (value === undefined || value === null) return c.type === "date" ? "<unknown>" : null;
        if (c.type === "date") return ageOf(value, now);
        if (c.type === "string") return typeof value === "object" ? JSON.stringify(value) : String(value);
        return value;
      }),
    ],
  };
}

function ageOf(time: unknown, now: number): string {
  const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? "<unknown>" : humanDuration(now - at);
}

/** Stands for an escaped dot while a path is taken apart; never part of a field's name. */
const ESCAPED_DOT = "\u2024";

/** A simple JSONPath: names, quoted names, indices and one filter `[?(@.key=="value")]`. */
function pick(object: any, path: string): unknown {
  let here: any = object;
  const step =
    /\.([A-Za-z0-9_-]+)|\['([^']+)'\]|\[(\d+|\*)\]|\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]|\.\\?([^.[]+)/gy;
  for (const m of path.replaceAll("\\.", ESCAPED_DOT).matchAll(step)) {
    if (here === undefined || here === null) return undefined;
    const name = (m[1] ?? m[2] ?? m[6])?.replaceAll(ESCAPED_DOT, ".");
    if (name !== undefined) here = here[name];
    else if (m[3] !== undefined) here = m[3] === "*" ? here[0] : here[Number(m[3])];
    else here = (Array.isArray(here) ? here : []).find((item: any) => String(at(item, ...m[4]!.split("."))) === m[5]);
  }
  return here;
}
