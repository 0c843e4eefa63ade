/** Server-side tables, and the columns that kubectl adds to them. */
import { alignTabs, TABLE_TABS } from "./tabwriter.js";

export const TABLE_ACCEPT =
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

export interface ServerTable {
  kind: "Table";
  columnDefinitions: { name: string; type: string; format?: string; priority?: number }[];
  rows: { cells: unknown[]; object?: any }[];
  metadata?: { continue?: string };
}

export interface TableOptions {
  wide?: boolean;
  noHeaders?: boolean;
  showLabels?: boolean;
  labelColumns?: string[];
  withNamespace?: boolean;
  /** Put before each name: `deployment.apps/`. */
  kind?: string;
}

/** One cell as text: cut at the first line break, which would spoil the table. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "<none>";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const cut = text.search(/[\f\n\r]/);
  return cut < 0 ? text : `${text.slice(0, cut)}...`;
}

/** Labels as `a=1,b=2`, sorted. */
export function labelText(labels: Record<string, string> | undefined): string {
  const keys = Object.keys(labels ?? {}).sort();
  return keys.length === 0 ? "<none>" : keys.map((key) => `${key}=${labels?.[key]}`).join(",");
}

/** Lines of a table with tabs between cells; `printTabs` aligns them. */
export function tableLines(tables: readonly ServerTable[], options: TableOptions): string[] {
  const first = tables[0];
  if (!first) return [];
  const shown = first.columnDefinitions.map((c) => options.wide || !c.priority);
  const lines: string[] = [];
  if (!options.noHeaders) {
    const head = first.columnDefinitions.filter((_, i) => shown[i]).map((c) => c.name.toUpperCase());
    if (options.withNamespace) head.unshift("NAMESPACE");
    for (const label of options.labelColumns ?? []) head.push((label.split("/").at(-1) ?? label).toUpperCase());
    if (options.showLabels) head.push("LABELS");
    lines.push(head.join("\t"));
  }
  for (const table of tables)
    for (const row of table.rows) {
      const cells = table.columnDefinitions.flatMap((column, i) => {
        if (!shown[i]) return [];
        const text = cellText(row.cells[i]);
        return [i === 0 && column.format === "name" && options.kind ? `${options.kind}/${text}` : text];
      });
      const metadata = row.object?.metadata ?? {};
      if (options.withNamespace) cells.unshift(metadata.namespace ?? "");
      for (const label of options.labelColumns ?? []) cells.push(metadata.labels?.[label] ?? "");
      if (options.showLabels) cells.push(labelText(metadata.labels));
      lines.push(cells.join("\t"));
    }
  return lines;
}

export function printTabs(lines: readonly string[]): string {
  return lines.length === 0 ? "" : alignTabs(`${lines.join("\n")}\n`, TABLE_TABS);
}

/** A table for objects of a server that makes none. */
export function plainTable(objects: readonly any[]): ServerTable {
  return {
    kind: "Table",
    columnDefinitions: [
      { name: "Name", type: "string", format: "name" },
      { name: "Age", type: "string" },
    ],
    rows: objects.map((object) => ({
      cells: [object.metadata?.name, object.metadata?.creationTimestamp ?? "<unknown>"],
      object,
    })),
  };
}
