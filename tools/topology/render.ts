/** The graph as text: what is around an entity, ways between two, and an overview. */
import { plural } from "../render/text.js";
import { listing } from "../suggest.js";
import type { Edge, Graph, Relation } from "./graph.js";

const MAX_NAMES = 12;
const MAX_LINES = 120;

/** How a relation reads from its source, and from its target. */
const FORTH: Record<Relation, string> = {
  owns: "owns",
  selects: "selects",
  calls: "calls",
  configured: "is configured to reach",
  uses: "uses",
  routes: "routes to",
  "runs on": "runs on",
};
const BACK: Record<Relation, string> = {
  owns: "owned by",
  selects: "selected by",
  calls: "called by",
  configured: "is configured in",
  uses: "used by",
  routes: "routed to by",
  "runs on": "runs",
};
/** Relations along which a fault of the target is felt by the source. */
const CALLS: readonly Relation[] = ["calls", "configured", "routes"];

export type Direction = "both" | "callers" | "callees";

/** What is around `entity`, up to `depth` edges away. */
export function renderNeighbours(graph: Graph, entity: string, depth: number, direction: Direction): string {
  if (direction !== "both") return renderCalls(graph, entity, depth, direction);
  const lines = [titled(graph, entity), ...groups(graph, entity)];
  let ring = [entity];
  const seen = new Set(ring);
  for (let level = 1; level < depth; level++) {
    const next = new Set<string>();
    for (const one of ring) {
      for (const name of [...graph.from(one).map((e) => e.to), ...graph.to(one).map((e) => e.from)]) {
        if (!seen.has(name)) next.add(name);
      }
    }
    ring = [...next].filter((name) => !/\/(Node|ServiceAccount)\//.test(name));
    for (const name of ring) {
      seen.add(name);
      lines.push("", titled(graph, name), ...groups(graph, name));
    }
  }
  return bounded(lines);
}

/** Who calls it, or whom it calls, as a tree; a Service and the workload behind it are one line. */
function renderCalls(graph: Graph, entity: string, depth: number, direction: "callers" | "callees"): string {
  const lines = [titled(graph, entity)];
  const own = partners(graph, entity);
  const seen = new Set(own);
  const visit = (names: readonly string[], level: number): void => {
    if (level > depth) return;
    const groups = new Map<string, { details: string[]; names: Set<string> }>();
    for (const name of names) {
      const edges = direction === "callees" ? graph.from(name) : graph.to(name);
      for (const edge of edges.filter((one) => CALLS.includes(one.relation))) {
        const other = direction === "callees" ? edge.to : edge.from;
        // That it calls itself tells nothing.
        if (own.has(other)) continue;
        const same = partners(graph, other);
        const head = [...same].find((one) => groups.has(one)) ?? other;
        const group = groups.get(head) ?? { details: [], names: new Set<string>() };
        group.details.push(`${edge.relation}${edge.detail ? `: ${edge.detail}` : ""}`);
        for (const one of same) group.names.add(one);
        groups.set(head, group);
      }
    }
    for (const [head, { details, names: same }] of groups) {
      const known = [...same].some((one) => seen.has(one));
      for (const one of same) seen.add(one);
      const more = known && level < depth ? " (see above)" : "";
      lines.push(`${"  ".repeat(level)}${short(head, entity)} [${listing(details, 4)}]${more}`);
      for (const remark of [...same].flatMap((one) => graph.remarks.get(one) ?? [])) {
        lines.push(`${"  ".repeat(level + 1)}! ${remark}`);
      }
      if (!known) visit([...same], level + 1);
    }
  };
  visit([...own], 1);
  if (lines.length === 1) {
    lines.push(
      `  ${direction === "callers" ? "nothing is seen to call it" : "it is not seen to call anything"}: no traced call, no address in configuration, no route`,
    );
  }
  return bounded(lines);
}

/** The entity, the Services that select it, and what it selects as a Service. */
function partners(graph: Graph, entity: string): Set<string> {
  const found = new Set([entity]);
  for (const edge of graph.to(entity)) if (edge.relation === "selects" && isService(edge.from)) found.add(edge.from);
  if (isService(entity)) {
    for (const edge of graph.from(entity)) {
      if (edge.relation !== "selects") continue;
      found.add(edge.to);
    }
  }
  return found;
}

function isService(name: string): boolean {
  return name.split("/")[1] === "Service";
}

/** The shortest ways between two entities, in the order in which one needs the other. */
export function renderPaths(graph: Graph, from: string, to: string): string {
  const forth = graph.paths(from, to, 5);
  if (forth.length > 0) return ways(graph, from, to, forth);
  const back = graph.paths(to, from, 5);
  if (back.length > 0) {
    return `${from} does not depend on ${to}; it is the other way round:\n${ways(graph, to, from, back)}`;
  }
  const near = (name: string) => listing([...new Set(graph.from(name).map((e) => e.to))], MAX_NAMES) || "nothing";
  return `no way from ${from} to ${to}, nor back\n${from} leads to: ${near(from)}\n${to} leads to: ${near(to)}`;
}

function ways(graph: Graph, from: string, to: string, paths: readonly Edge[][]): string {
  const lines = [`${plural(paths.length, "way")} from ${from} to ${to}, the shortest first:`];
  for (const path of paths) {
    lines.push(
      `- ${short(from, from)}${path.map((edge) => ` --${edge.relation}${edge.detail ? ` (${edge.detail})` : ""}--> ${short(edge.to, from)}`).join("")}`,
    );
  }
  const on = new Set(paths.flat().flatMap((edge) => [edge.from, edge.to]));
  for (const name of on) for (const remark of graph.remarks.get(name) ?? []) lines.push(`! ${name}: ${remark}`);
  return bounded(lines);
}

/** Who reaches whom, and all remarks. */
export function renderOverview(graph: Graph, namespaces: readonly string[]): string {
  const edges = graph.edges().filter((edge) => CALLS.includes(edge.relation));
  const callers = new Map<string, Map<string, string[]>>();
  for (const edge of edges) {
    const targets = callers.get(edge.from) ?? new Map<string, string[]>();
    const label = edge.relation === "calls" ? (edge.detail ?? "calls") : edge.relation;
    const labels = targets.get(edge.to) ?? [];
    if (!labels.includes(label)) targets.set(edge.to, [...labels, label]);
    callers.set(edge.from, targets);
  }
  const lines = [
    `${plural(graph.entities.size, "object")} in ${namespaces.join(", ")}; who reaches whom (traced calls, and addresses in configuration):`,
  ];
  for (const [from, targets] of [...callers].sort(([a], [b]) => a.localeCompare(b))) {
    const list = [...targets].map(([to, labels]) => `${short(to, from)} (${labels.join(", ")})`);
    lines.push(`${from} -> ${list.join(", ")}`);
  }
  if (callers.size === 0) lines.push("nothing is seen to reach anything");
  const remarks = [...graph.remarks].flatMap(([name, texts]) => texts.map((text) => `! ${name}: ${text}`));
  if (remarks.length > 0) lines.push("", "what does not fit together:", ...remarks);
  return bounded(lines);
}

function titled(graph: Graph, entity: string): string {
  const what = graph.entities.get(entity);
  return what ? `${entity} (${what})` : entity;
}

function groups(graph: Graph, entity: string): string[] {
  const lines: string[] = [];
  const add = (edges: readonly Edge[], words: Record<Relation, string>, other: (edge: Edge) => string) => {
    for (const relation of Object.keys(words) as Relation[]) {
      const byName = new Map<string, string[]>();
      for (const edge of edges.filter((one) => one.relation === relation)) {
        const details = byName.get(other(edge)) ?? [];
        byName.set(other(edge), edge.detail === undefined ? details : [...details, edge.detail]);
      }
      if (byName.size === 0) continue;
      const names = [...byName].map(([name, details]) => {
        const notes = [...(relation === "owns" ? [graph.entities.get(name) ?? ""] : []), ...details].filter(Boolean);
        return `${short(name, entity)}${notes.length === 0 ? "" : ` (${listing(notes, 4)})`}`;
      });
      lines.push(`  ${words[relation]}: ${listing(names, MAX_NAMES)}`);
    }
  };
  add(graph.to(entity), BACK, (edge) => edge.from);
  add(graph.from(entity), FORTH, (edge) => edge.to);
  for (const remark of graph.remarks.get(entity) ?? []) lines.push(`  ! ${remark}`);
  if (lines.length === 0)
    lines.push("  stands alone: nothing owns, selects, uses or calls it, nor the other way round");
  return lines;
}

/** Without the namespace where it is the reader's own. */
function short(name: string, beside: string): string {
  const [namespace, kind, own] = name.split("/") as [string, string, string];
  if (kind === "Traced") return `${own} (traced)`;
  return namespace === beside.split("/")[0] || namespace === "" ? `${kind}/${own}` : name;
}

function bounded(lines: readonly string[]): string {
  if (lines.length <= MAX_LINES) return lines.join("\n");
  return [
    ...lines.slice(0, MAX_LINES),
    `... and ${lines.length - MAX_LINES} more lines; ask for one entity, or less depth`,
  ].join("\n");
}
