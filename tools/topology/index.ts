/** Topology: what an object hangs together with, who calls it, and ways between two objects. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { chosenNamespaces, withCluster } from "../cluster.js";
import { type ToolContext, ToolFailure } from "../context.js";
import { getJson } from "../http.js";
import { listing, suggest } from "../suggest.js";
import { addCalls, buildGraph, type TracedCall } from "./build.js";
import type { Graph } from "./graph.js";
import { type Direction, renderNeighbours, renderOverview, renderPaths } from "./render.js";

const schema = z.object({
  entity: z
    .string()
    .optional()
    .describe('object to look at: "billing", "Deployment/billing" or "shop/Deployment/billing"; without it, all'),
  to: z.string().optional().describe("another object: show the ways from entity to it"),
  direction: z
    .enum(["both", "callers", "callees"])
    .optional()
    .describe("callers: who calls it, and who calls those; callees: whom it calls (both: all around it)"),
  depth: z.number().int().positive().optional().describe("how many steps away (1; callers and callees 3)"),
  namespace: z.string().optional(),
});

const MAX_DEPTH = 5;
/** Hours of calls that the graph shows. */
const CALLS_MS = 3_600_000;

/**
 * Tool `topology`.
 *
 * @param options traces: whether calls may be read from Jaeger
 */
export function createTopology(context: ToolContext, options: { traces: boolean }) {
  return tool(
    async (input: z.infer<typeof schema>) => {
      if (input.to && !input.entity) throw new ToolFailure('give "entity" too: the ways begin there');
      const namespaces = chosenNamespaces(context, input.namespace);
      const { graph, notes } = await read(namespaces, context, options.traces);
      const text = show(graph, input, namespaces);
      return [text, ...notes].join("\n");
    },
    {
      name: "topology",
      metadata: { narrow: "ask for one entity, with direction callers or callees" },
      description:
        "Shows what an object hangs together with: owners, Services that select it, ConfigMaps and volumes, whom it calls and who calls it (from traces, and from addresses in its configuration), and what does not fit (an address without a Service, a wrong port, a selector that picks nothing). Or the ways between two objects.",
      schema,
    },
  );
}

async function read(
  namespaces: readonly string[],
  context: ToolContext,
  traces: boolean,
): Promise<{ graph: Graph; notes: string[] }> {
  const notes: string[] = [];
  const { graph, named } = await withCluster(context, async (cluster) => {
    const built = await buildGraph(cluster, namespaces);
    // Secrets are rarely for an agent to read; it need not hear so each time.
    for (const [kind, reason] of cluster.unread)
      if (kind !== "secrets") notes.push(`[${kind} could not be read: ${reason}]`);
    return built;
  });
  if (graph.entities.size === 0) {
    throw new ToolFailure(
      `there are no objects in ${namespaces.join(", ")}; the scenario's namespaces: ${context.namespaces.join(", ")}`,
    );
  }
  if (!traces) return { graph, notes };
  try {
    const json = await getJson(
      context.endpoints,
      "jaeger",
      "/api/dependencies",
      { endTs: Math.round(context.clock.now()), lookback: CALLS_MS },
      context.signal,
    );
    const outside = addCalls(graph, (json.data as TracedCall[] | null) ?? [], named);
    if (outside.length > 0) notes.push(`[traced, but no object here: ${listing(outside)}]`);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    notes.push(`[without traced calls: ${error.message}]`);
  }
  return { graph, notes };
}

function show(graph: Graph, input: z.infer<typeof schema>, namespaces: readonly string[]): string {
  if (!input.entity) return renderOverview(graph, namespaces);
  const [entity, others] = find(graph, input.entity);
  const direction: Direction = input.direction ?? "both";
  const depth = Math.min(input.depth ?? (direction === "both" ? 1 : 3), MAX_DEPTH);
  if (input.to) return renderPaths(graph, entity, find(graph, input.to)[0]);
  const also = others.length === 0 ? "" : `\n[of the same name: ${listing(others)}]`;
  return renderNeighbours(graph, entity, depth, direction) + also;
}

/** Which of several kinds a bare name means, best first. */
const PREFERRED = ["Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Pod", "Service", "ConfigMap"];

/** The entity that a name means, and others that it may mean. @throws ToolFailure, with near names */
function find(graph: Graph, asked: string): [string, string[]] {
  const wanted = asked
    .trim()
    .replace(/^\/+|\/+$/g, "")
    .toLowerCase();
  const parts = wanted.split("/");
  const names = [...graph.entities.keys()];
  const fits = names.filter((name) => {
    const [namespace, kind, own] = name.toLowerCase().split("/") as [string, string, string];
    if (own !== parts.at(-1)) return false;
    const before = parts.slice(0, -1);
    if (before.length === 0) return true;
    const kinds = [kind, `${kind}s`, kind.replace(/y$/, "ies"), SHORT[kind] ?? kind];
    if (before.length === 1) return kinds.includes(before[0]!) || before[0] === namespace;
    return before[0] === namespace && kinds.includes(before[1]!);
  });
  const rank = (name: string) => {
    const at = PREFERRED.indexOf(name.split("/")[1]!);
    return at < 0 ? PREFERRED.length : at;
  };
  const [best, ...others] = fits.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  if (best !== undefined) return [best, others];
  const own = names.filter((name) => !/\/(Pod|ReplicaSet|Secret|ServiceAccount)\//.test(name));
  const near = suggest(parts.at(-1)!, [...new Set(own.map((name) => name.split("/")[2]!))]);
  const hint = near.length > 0 ? `; did you mean ${near.join(", ")}?` : `; there are: ${listing(own, 30)}`;
  throw new ToolFailure(`there is no object "${asked}"${hint}`);
}

const SHORT: Record<string, string> = {
  deployment: "deploy",
  statefulset: "sts",
  daemonset: "ds",
  service: "svc",
  configmap: "cm",
  pod: "po",
  persistentvolumeclaim: "pvc",
  horizontalpodautoscaler: "hpa",
};
