/**
 * One ground truth for a scenario from what there is: its v1 file (groups, chain), its v2 file (entities), and the
 * injections themselves. Some v1 files speak of another fault than the scenario of the same number; what was injected
 * decides.
 */

import type { Disruption } from "../../testbed/environment.js";
import { type Entity, formatEntity, groupMatcher } from "./entity.js";
import { asRecord, type LoadedGroundTruth, textOf } from "./ground-truth.js";
import type { GroundTruth, Group } from "./schema.js";

/** The objects that the injections name in `args.kubernetesObject`, each once. */
export function injectedObjects(disruptions: readonly Disruption[]): Entity[] {
  const found = new Map<string, Entity>();
  for (const { args } of disruptions.flatMap((disruption) => disruption.injections)) {
    const object = asRecord(args.kubernetesObject);
    const metadata = asRecord(object?.metadata);
    const [kind, name, namespace] = [object?.kind, metadata?.name, metadata?.namespace].map(textOf);
    if (!kind || !name) continue;
    const entity = { kind, name, namespace: namespace ?? "" };
    found.set(formatEntity(entity), entity);
  }
  return [...found.values()];
}

/** Ground truth without any file: what was changed is the root cause. */
export function truthOfInjections(disruptions: readonly Disruption[]): GroundTruth {
  return {
    fault: disruptions
      .flatMap((disruption) => disruption.injections)
      .map((injection) => ({ fault_mechanism: injection.id })),
    alerts: [],
    groups: injectedObjects(disruptions).map(toGroup),
    aliases: [],
    propagations: [],
    recommended_actions: [],
  };
}

/**
 * - v1 agrees with the root causes (v2's entities, else the injected objects): its groups, aliases and chain are kept;
 *   each root cause counts under its own name, and v1's root group counts as another name for it.
 * - v1 knows those objects, but calls something else the root cause: the chain is kept, v2 names the root cause.
 * - v1 speaks of something else: it is left out.
 */
export function reconcile(
  disruptions: readonly Disruption[],
  v1: LoadedGroundTruth | undefined,
  v2: LoadedGroundTruth | undefined,
): { truth: GroundTruth; warnings: string[] } {
  const warnings = [...(v1?.warnings ?? []), ...(v2?.warnings ?? [])];
  const fromV2 = v2?.truth.groups.filter((group) => group.root_cause) ?? [];
  const named = fromV2.length > 0 ? fromV2 : injectedObjects(disruptions).map(toGroup);
  if (!v1) {
    const base = v2?.truth ?? truthOfInjections(disruptions);
    if (!v2) warnings.push("no ground truth file: the root causes are the objects that the injections change");
    return { truth: { ...base, groups: base.groups.length > 0 ? base.groups : named }, warnings };
  }
  // Nothing else is known (a scenario without disruptions): v1 stands.
  if (named.length === 0 && disruptions.length > 0) return { truth: v1.truth, warnings };
  if (named.length === 0) {
    warnings.push("nothing is injected: the root causes of the v1 ground truth are left out");
    return { truth: withRoots(v1.truth, []), warnings };
  }

  const roots = v1.truth.groups.filter((group) => group.root_cause);
  const pairs = named.map((entity) => ({ entity, root: roots.find((root) => sameThing(root, entity)) }));
  const agreeing = pairs.filter(({ root }) => root !== undefined);
  if (agreeing.length === 0 && !v1.truth.groups.some((group) => named.some((entity) => sameThing(group, entity)))) {
    warnings.push(
      `the v1 ground truth speaks of ${describe(roots)}, the scenario changes ${describe(named)}: v1 is left out`,
    );
    const base = v2?.truth ?? truthOfInjections(disruptions);
    return { truth: { ...base, groups: named }, warnings };
  }
  const strays = roots.filter((root) => !pairs.some((pair) => pair.root === root));
  if (strays.length > 0) {
    warnings.push(
      `the v1 ground truth calls ${describe(strays)} a root cause, the scenario changes ${describe(named)}: the latter counts`,
    );
  }
  return { truth: withRoots(v1.truth, pairs), warnings };
}

/** v1's groups with `pairs` as the only root causes; a pair's v1 root, or a v1 group of just that name, is reused. */
function withRoots(v1: GroundTruth, pairs: readonly { entity: Group; root?: Group | undefined }[]): GroundTruth {
  const groups = v1.groups.map((group) => ({ ...group, root_cause: false }));
  const aliases = [...v1.aliases];
  for (const { entity, root } of pairs) {
    const wanted = { kind: entity.kind, name: entity.name ?? "", namespace: entity.namespace ?? "" };
    const own = groups.find((group) => groupMatcher(group).matches(wanted));
    if (own) {
      own.root_cause = true;
      if (root && own.id !== root.id) aliases.push([own.id, root.id]);
      continue;
    }
    const id = groups.some((group) => group.id === entity.id) ? `${entity.id} (changed object)` : entity.id;
    groups.push({ ...entity, id, root_cause: true });
    if (root) aliases.push([id, root.id]);
  }
  return { ...v1, groups, aliases };
}

const WORKLOAD_KINDS = new Set(["deployment", "statefulset", "daemonset", "replicaset", "pod"]);

/** Whether a v1 group speaks of that object: it matches, or it is its pods, or its filter wants a suffix (`cart-.*`). */
function sameThing(group: Group, entity: Group): boolean {
  const wanted = { kind: entity.kind, name: entity.name ?? "", namespace: entity.namespace ?? "" };
  const loose = { ...group, kind: entity.kind, namespace: undefined };
  const bothWorkloads = [group, entity].every(({ kind }) => WORKLOAD_KINDS.has(kind.toLowerCase()));
  const sameKind = group.kind.toLowerCase() === entity.kind.toLowerCase();
  if (group.namespace !== undefined && entity.namespace !== undefined && group.namespace !== entity.namespace) {
    return false;
  }
  // A Schedule makes the chaos objects that v1 files name; their names hold the Schedule's, often behind a prefix.
  const chaos = /(chaos|^schedule)$/i.test(group.kind) && entity.kind.toLowerCase() === "schedule";
  if (chaos)
    return patterns(group).some((pattern) => pattern.includes(wanted.name) || wanted.name.includes(strip(pattern)));
  if (!sameKind && !bothWorkloads) return false;
  const matcher = groupMatcher(loose);
  return [wanted.name, `${wanted.name}-0`, `${wanted.name}-5d8f7c9b6-x2x9z`].some((name) =>
    matcher.matches({ ...wanted, name }),
  );
}

function patterns(group: Group): string[] {
  return [...(group.name ? [group.name] : []), ...(group.filter ?? [])];
}

/** The literal part of a simple filter. */
function strip(pattern: string): string {
  return pattern.replace(/^\^?(\.\*)?-?/, "").replace(/(-?\.\*|\\b|\$)+$/, "");
}

function toGroup(entity: Entity): Group {
  const { kind, name, namespace } = entity;
  return { id: `${kind}/${name}`.toLowerCase(), kind, name, ...(namespace ? { namespace } : {}), root_cause: true };
}

function describe(groups: readonly Group[]): string {
  return groups.map((group) => `${group.kind} ${group.name ?? group.filter?.[0] ?? group.id}`).join(", ") || "nothing";
}
