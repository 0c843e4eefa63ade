/** `kubectl top pods` and `kubectl top nodes`. */
import { resourcePath } from "../client/discovery.js";
import { listObjects, scopeOf } from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { usageError } from "../errors.js";
import { parseQuantity } from "../printers/quantity.js";
import { printTabs } from "../printers/table.js";
import { ALL_NAMESPACES, SELECTOR } from "./flag-sets.js";

interface Use {
  /** Cores. */
  cpu: number;
  memory: number;
}

function use(value: any): Use {
  return { cpu: parseQuantity(value?.cpu) ?? 0, memory: parseQuantity(value?.memory) ?? 0 };
}

function millicores(cores: number): number {
  return Math.ceil(cores * 1000 - 1e-6);
}

/** Every cell of these tables is padded, the last ones too. */
function printPadded(lines: readonly string[]): string {
  return printTabs(lines.map((line) => `${line}\t`));
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / (1024 * 1024))}Mi`;
}

async function metrics(context: Context, name: "pods" | "nodes", wanted: string | undefined): Promise<any[]> {
  const all = await context.discovery.resources();
  const resource = all.find((r) => r.group === "metrics.k8s.io" && r.name === name);
  if (!resource) throw usageError("Metrics API not available");
  const scope = scopeOf(context, resource);
  if (wanted === undefined) return listObjects(context, resource, {}, scope);
  return [await context.client.json({ path: resourcePath(resource, scope, wanted) })];
}

function order<T extends { name: string; use: Use }>(rows: T[], by: string): T[] {
  const names = (a: T, b: T) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  if (by === "cpu") return rows.sort((a, b) => b.use.cpu - a.use.cpu);
  if (by === "memory") return rows.sort((a, b) => b.use.memory - a.use.memory);
  return rows.sort(names);
}

function checkSort(by: string): void {
  if (!["", "cpu", "memory"].includes(by)) throw usageError("--sort-by accepts only cpu or memory");
}

const FLAGS = {
  ...SELECTOR,
  "field-selector": { type: "string" },
  "no-headers": { type: "bool" },
  "sort-by": { type: "string" },
  "use-protocol-buffers": { type: "bool" },
} as const;

const topPods: Verb = {
  name: ["top", "pods"],
  access: "read",
  flags: { ...FLAGS, ...ALL_NAMESPACES, containers: { type: "bool" }, sum: { type: "bool" } },
  async run(context) {
    const { flags } = context;
    checkSort(flags.string("sort-by"));
    const list = await metrics(context, "pods", context.args[0]);
    if (list.length === 0) {
      context.err(
        context.allNamespaces ? "No resources found\n" : `No resources found in ${context.namespace} namespace.\n`,
      );
      return;
    }
    const rows = order(
      list.map((item) => {
        const containers: any[] = item.containers ?? [];
        const parts = containers.map((c) => ({ name: c.name as string, use: use(c.usage) }));
        const total = parts.reduce((sum, p) => ({ cpu: sum.cpu + p.use.cpu, memory: sum.memory + p.use.memory }), {
          cpu: 0,
          memory: 0,
        });
        return { name: item.metadata.name as string, namespace: item.metadata.namespace as string, use: total, parts };
      }),
      flags.string("sort-by"),
    );
    const split = flags.bool("containers");
    const lines: string[] = [];
    const first = context.allNamespaces ? ["NAMESPACE"] : [];
    if (!flags.bool("no-headers"))
      lines.push([...first, ...(split ? ["POD", "NAME"] : ["NAME"]), "CPU(cores)", "MEMORY(bytes)"].join("\t"));
    for (const row of rows) {
      const lead = context.allNamespaces ? [row.namespace] : [];
      const entries = split
        ? order(row.parts, flags.string("sort-by")).map((p) => ({ cells: [...lead, row.name, p.name], use: p.use }))
        : [{ cells: [...lead, row.name], use: row.use }];
      for (const entry of entries)
        lines.push([...entry.cells, `${millicores(entry.use.cpu)}m`, mebibytes(entry.use.memory)].join("\t"));
    }
    if (flags.bool("sum")) {
      const total = rows.reduce((sum, r) => ({ cpu: sum.cpu + r.use.cpu, memory: sum.memory + r.use.memory }), {
        cpu: 0,
        memory: 0,
      });
      const blanks = [...first, ...(split ? [""] : [])].map(() => "");
      lines.push(
        [...blanks, "", "________", "________"].join("\t"),
        [...blanks, "", `${millicores(total.cpu)}m`, mebibytes(total.memory)].join("\t"),
      );
    }
    context.out(printPadded(lines));
  },
};

const topNodes: Verb = {
  name: ["top", "nodes"],
  access: "read",
  flags: { ...FLAGS, "show-capacity": { type: "bool" } },
  async run(context) {
    const { flags } = context;
    checkSort(flags.string("sort-by"));
    const list = await metrics(context, "nodes", context.args[0]);
    if (list.length === 0) {
      context.err("No resources found\n");
      return;
    }
    const nodes = await context.discovery.resolve("nodes");
    const objects = new Map(
      (await listObjects(context, nodes, { labelSelector: "", fieldSelector: "" }, null)).map((n) => [
        n.metadata.name,
        n,
      ]),
    );
    const rows = order(
      list.map((item) => ({ name: item.metadata.name as string, use: use(item.usage) })),
      flags.string("sort-by"),
    );
    const lines = flags.bool("no-headers") ? [] : ["NAME\tCPU(cores)\tCPU(%)\tMEMORY(bytes)\tMEMORY(%)"];
    for (const row of rows) {
      const status = objects.get(row.name)?.status ?? {};
      const of = use((flags.bool("show-capacity") ? status.capacity : status.allocatable) ?? {});
      const percent = (value: number, total: number) =>
        total > 0 ? `${Math.floor((value * 100) / total)}%` : "<unknown>";
      lines.push(
        [
          row.name,
          `${millicores(row.use.cpu)}m`,
          percent(millicores(row.use.cpu), millicores(of.cpu)),
          mebibytes(row.use.memory),
          percent(row.use.memory, of.memory),
        ].join("\t"),
      );
    }
    context.out(printPadded(lines));
  },
};

export const topVerbs: readonly Verb[] = [
  topPods,
  { ...topPods, name: ["top", "pod"] },
  { ...topPods, name: ["top", "po"] },
  topNodes,
  { ...topNodes, name: ["top", "node"] },
  { ...topNodes, name: ["top", "no"] },
];
