/** `kubectl cordon`, `uncordon`, `drain`, `taint`. */
import { type Resource, resourcePath } from "../client/discovery.js";
import { STRATEGIC_PATCH } from "../client/rest.js";
import { type Found, fetchObjects, listObjects, selectTargets } from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { ApiError, KubectlError, plainMessage, usageError } from "../errors.js";
import { OUTPUT, SELECTOR, WRITING } from "./flag-sets.js";
import { dryRun, eachObject, patchObject, printOutcome, targetsOf } from "./writing.js";

async function nodesOf(context: Context, verb: string): Promise<{ found: Found[]; errors: unknown[] }> {
  const names = context.args.map((arg) => arg.replace(/^(nodes?|no)\//, ""));
  if (names.length === 0 && context.flags.string("selector") === "") throw usageError(`USAGE: ${verb} NODE [flags]`);
  const targets = await selectTargets(context, ["nodes", ...names]);
  return fetchObjects(context, targets);
}

async function setSchedulable(context: Context, item: Found, schedulable: boolean): Promise<void> {
  const word = schedulable ? "uncordoned" : "cordoned";
  if ((item.object.spec?.unschedulable === true) !== schedulable) {
    printOutcome(context, item.resource, item.object, `already ${word}`);
    return;
  }
  const after = await patchObject(context, item, {
    body: { spec: { unschedulable: schedulable ? null : true } },
    contentType: STRATEGIC_PATCH,
    manager: "kubectl-cordon",
  });
  printOutcome(context, item.resource, after, word);
}

function cordoning(name: "cordon" | "uncordon"): Verb {
  return {
    name: [name],
    access: "write",
    flags: { ...SELECTOR, "dry-run": { type: "string", bare: "unchanged", default: "none" } },
    async run(context) {
      const { found, errors } = await nodesOf(context, name);
      await eachObject(context, found, errors, (item) => setSchedulable(context, item, name === "uncordon"));
    },
  };
}

/** Why pods of a node cannot be moved, as kubectl words it; an empty list when all can. */
function obstacles(context: Context, pods: readonly any[]): { movable: any[]; problems: string[]; ignored: any[] } {
  const { flags } = context;
  const groups = { daemon: [] as any[], local: [] as any[], bare: [] as any[] };
  const movable: any[] = [];
  const ignored: any[] = [];
  for (const pod of pods) {
    const owner = (pod.metadata.ownerReferences ?? []).find((o: any) => o.controller);
    if (pod.metadata.annotations?.["kubernetes.io/config.mirror"]) continue;
    const finished = ["Succeeded", "Failed"].includes(pod.status?.phase);
    if (owner?.kind === "DaemonSet" && !finished) {
      if (flags.bool("ignore-daemonsets")) ignored.push(pod);
      else groups.daemon.push(pod);
      continue;
    }
    const local = (pod.spec.volumes ?? []).some((v: any) => v.emptyDir);
    if (local && !finished && !flags.bool("delete-emptydir-data")) groups.local.push(pod);
    else if (!owner && !finished && !flags.bool("force")) groups.bare.push(pod);
    else movable.push(pod);
  }
  const names = (list: any[]) => list.map((p) => `${p.metadata.namespace}/${p.metadata.name}`).join(", ");
  const problems: string[] = [];
  if (groups.local.length > 0)
    problems.push(
      `cannot delete Pods with local storage (use --delete-emptydir-data to override): ${names(groups.local)}`,
    );
  if (groups.bare.length > 0)
    problems.push(`cannot delete Pods that declare no controller (use --force to override): ${names(groups.bare)}`);
  if (groups.daemon.length > 0)
    problems.push(`cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): ${names(groups.daemon)}`);
  return { movable, problems, ignored };
}

async function evict(context: Context, pods: Resource, list: readonly any[]): Promise<void> {
  const limit = context.flags.duration("timeout") || 120;
  for (const pod of list) {
    context.out(`evicting pod ${pod.metadata.namespace}/${pod.metadata.name}\n`);
    if (dryRun(context) !== "none") continue;
    const grace = context.flags.int("grace-period");
    for (let waited = 0; ; waited += 5) {
      try {
        await context.client.json({
          method: "POST",
          path: resourcePath(pods, pod.metadata.namespace, pod.metadata.name, "eviction"),
          body: {
            apiVersion: "policy/v1",
            kind: "Eviction",
            metadata: { name: pod.metadata.name, namespace: pod.metadata.namespace },
            ...(grace >= 0 ? { deleteOptions: { gracePeriodSeconds: grace } } : {}),
          },
        });
        break;
      } catch (error) {
        if (error instanceof ApiError && error.notFound) break;
        if (!(error instanceof ApiError) || error.status.code !== 429 || waited >= limit)
          throw new KubectlError(
            `error: error when evicting pods/"${pod.metadata.name}" -n "${pod.metadata.namespace}": ${plainMessage(error)}`,
          );
        context.err(
          `error when evicting pods/"${pod.metadata.name}" -n "${pod.metadata.namespace}" (will retry after 5s): ${plainMessage(error)}\n`,
        );
        await context.sleep(5);
      }
    }
  }
  for (const pod of dryRun(context) === "none" ? list : []) {
    for (let waited = 0; waited < limit; waited++) {
      const now = await context.client
        .json({ path: resourcePath(pods, pod.metadata.namespace, pod.metadata.name) })
        .catch(() => undefined);
      if (!now || now.metadata.uid !== pod.metadata.uid) break;
      await context.sleep(1);
    }
    context.out(`pod/${pod.metadata.name} evicted\n`);
  }
}

const drain: Verb = {
  name: ["drain"],
  access: "write",
  flags: {
    ...SELECTOR,
    "dry-run": { type: "string", bare: "unchanged", default: "none" },
    "ignore-daemonsets": { type: "bool" },
    "delete-emptydir-data": { type: "bool" },
    "delete-local-data": { type: "bool" },
    force: { type: "bool" },
    "grace-period": { type: "int", default: -1 },
    timeout: { type: "duration", default: "0s" },
    "pod-selector": { type: "string" },
    "disable-eviction": { type: "bool" },
    "skip-wait-for-delete-timeout": { type: "int" },
    "chunk-size": { type: "int", default: 500 },
  },
  async run(context) {
    const { found, errors } = await nodesOf(context, "drain");
    if (found.length === 0 && errors.length > 0) throw errors[0];
    const pods = await context.discovery.resolve("pods");
    await eachObject(context, found, errors, async (item) => {
      await setSchedulable(context, item, false);
      const name = item.object.metadata.name;
      const list = (
        await listObjects(
          context,
          pods,
          { fieldSelector: `spec.nodeName=${name}`, labelSelector: context.flags.string("pod-selector") },
          undefined,
        )
      ).filter((pod) => pod.spec?.nodeName === name);
      const { movable, problems, ignored } = obstacles(context, list);
      if (problems.length > 0) {
        context.err(
          `error: unable to drain node "${name}" due to error: ${problems.length > 1 ? `[${problems.join(", ")}]` : problems[0]}, continuing command...\n`,
        );
        throw new KubectlError(`There are pending nodes to be drained:\n ${name}\n${problems.join("\n")}`);
      }
      if (ignored.length > 0)
        context.err(
          `Warning: ignoring DaemonSet-managed Pods: ${ignored.map((p) => `${p.metadata.namespace}/${p.metadata.name}`).join(", ")}\n`,
        );
      await evict(context, pods, movable);
      printOutcome(context, item.resource, item.object, "drained");
    });
  },
};

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const taint: Verb = {
  name: ["taint"],
  access: "write",
  flags: { ...SELECTOR, ...OUTPUT, ...WRITING, all: { type: "bool" }, overwrite: { type: "bool" } },
  async run(context) {
    const at = context.args.findIndex((arg) => arg.includes("=") || arg.includes(":") || arg.endsWith("-"));
    if (at < 0) throw usageError("at least one taint update is required");
    const [resources, changes] = [context.args.slice(0, at), context.args.slice(at)];
    const add: any[] = [];
    const drop: { key: string; effect?: string }[] = [];
    for (const change of changes) {
      const match = /^([^=:]+?)(?:=([^:]*))?(?::(\w+))?(-)?$/.exec(change);
      const [, key, value, effect, minus] = match ?? [];
      if (!key || (!minus && !effect)) throw usageError(`invalid taint spec: ${change}`);
      if (effect && !EFFECTS.includes(effect))
        throw usageError(`invalid taint effect: ${effect}, unsupported taint effect`);
      if (minus) drop.push({ key, ...(effect ? { effect } : {}) });
      else add.push({ effect, key, ...(value ? { value } : {}) });
    }
    if (!/^(nodes?|no)(\/|$)/.test(resources[0] ?? ""))
      throw usageError(`invalid resource type ${resources[0] ?? ""}, only node(s) is supported`);
    const { found, errors } = await targetsOf(context, resources);
    await eachObject(context, found, errors, async (item) => {
      const old: any[] = item.object.spec?.taints ?? [];
      const same = (a: any, b: any) => a.key === b.key && a.effect === b.effect;
      const clash = add.filter((t) => old.some((o) => same(o, t)));
      if (clash.length > 0 && !context.flags.bool("overwrite"))
        throw usageError(
          `node ${item.object.metadata.name} already has ${clash.map((t) => t.key).join(", ")} taint(s) with same effect(s) and --overwrite is false`,
        );
      const dropped = (o: any) =>
        drop.some((d) => d.key === o.key && (d.effect === undefined || d.effect === o.effect));
      const missing = drop.find(
        (d) => !old.some((o) => d.key === o.key && (d.effect === undefined || d.effect === o.effect)),
      );
      if (missing) throw usageError(`taint "${missing.key}${missing.effect ? `:${missing.effect}` : ""}" not found`);
      const next = [...add, ...old.filter((o) => !dropped(o) && !add.some((t) => same(t, o)))];
      const after = await patchObject(context, item, {
        body: { spec: { taints: next.length > 0 ? next : null } },
        contentType: STRATEGIC_PATCH,
        manager: "kubectl-taint",
      });
      printOutcome(
        context,
        item.resource,
        after,
        drop.length > 0 && add.length > 0
          ? "modified"
          : drop.length > 0
            ? "untainted"
            : clash.length > 0
              ? "modified"
              : "tainted",
      );
    });
  },
};

export const nodeVerbs: readonly Verb[] = [cordoning("cordon"), cordoning("uncordon"), drain, taint];
