/** Finds what changed in the cluster: edits, rollouts, creations, deletions, and events that speak of change. */
import { type ClusterReader, entityName, type KubeObject } from "../cluster.js";
import { differences } from "./diff.js";
import { ownedFields } from "./fields.js";

export interface Change {
  /** Milliseconds since the epoch. */
  time: number;
  entity: string;
  text: string;
  /** Lines below it. */
  details: string[];
}

/** Kinds that controllers make out of others, or that change all the time: their changes are no one's decision. */
const DERIVED = new Set([
  "pods",
  "endpoints",
  "endpointslices",
  "replicasets",
  "controllerrevisions",
  "events",
  "leases",
  "bindings",
  "podmetrics",
]);
/** Of the whole cluster's kinds, those on which a namespace's objects depend. */
const CLUSTER_WIDE = [
  "nodes",
  "namespaces",
  "persistentvolumes",
  "storageclasses",
  "priorityclasses",
  "validatingwebhookconfigurations",
  "mutatingwebhookconfigurations",
];
/** Managers that carry out what others decided. */
const CONTROLLERS =
  /^(kube-controller-manager|kube-scheduler|kubelet|kube-apiserver|cloud-controller-manager|.*-controller)$/;
const CHANGE_EVENTS =
  /^(ScalingReplicaSet|SuccessfulRescale|DeploymentRollback\w*|NodeNotReady|NodeReady|NodeSchedulable|NodeNotSchedulable|Evicted|Preempt\w*|TaintManagerEviction|SystemOOM|Rebooted|RemovingNode|Drain\w*|Cordon\w*|Started chaos|\w*Injected?)$/;
/** Objects made in so short a time were made together. */
const TOGETHER_MS = 10_000;
const MANY = 4;
/** Scaling that a rollout or a creation brings with it. */
const CONSEQUENCE_MS = 180_000;
const MAX_FIELDS = 8;
const MAX_VALUE = 120;

export interface Collected {
  changes: Change[];
  /** Warnings that began in the time, by object and reason; they are symptoms rather than changes. */
  warnings: Change[];
  /** Names of all objects that there are, to tell what is gone. */
  existing: Set<string>;
}

/** @param from changes before are left out, milliseconds since the epoch */
export async function collectChanges(
  cluster: ClusterReader,
  namespaces: readonly string[],
  from: number,
): Promise<Collected> {
  const objects = await readAll(cluster, namespaces);
  const changes = [
    ...objects.flatMap((object) => edits(object, from)),
    ...creations(objects, from),
    ...objects.flatMap((object) => deletions(object)),
  ];
  const events: KubeObject[] = [];
  for (const namespace of namespaces) {
    const [replicaSets, revisions, own] = await Promise.all([
      cluster.list("replicasets", namespace),
      cluster.list("controllerrevisions", namespace),
      cluster.list("events", namespace),
    ]);
    changes.push(...rollouts(objects, replicaSets, revisions, from));
    events.push(...own);
  }
  // Events of nodes stand in the namespace `default`.
  if (!namespaces.includes("default")) {
    const others = await cluster.list("events", "default");
    events.push(...others.filter((event) => event.involvedObject?.kind === "Node"));
  }
  const recent = events.filter((event) => (event.type === "Normal" ? lastTime(event) : firstTime(event)) >= from);
  changes.push(...changeEvents(recent, changes, objects));
  return { changes, warnings: warnings(recent), existing: new Set(objects.map(entityName)) };
}

async function readAll(cluster: ClusterReader, namespaces: readonly string[]): Promise<KubeObject[]> {
  const kinds = (await cluster.resources()).filter(
    (one) => one.namespaced && one.verbs.includes("list") && !DERIVED.has(one.name) && one.group !== "metrics.k8s.io",
  );
  const wanted: [string, string | undefined][] = [
    ...namespaces.flatMap((namespace) =>
      kinds.map((one): [string, string] => [one.group === "" ? one.name : `${one.name}.${one.group}`, namespace]),
    ),
    ...CLUSTER_WIDE.map((kind): [string, undefined] => [kind, undefined]),
  ];
  const lists = await Promise.all(wanted.map(([kind, namespace]) => cluster.list(kind, namespace)));
  const seen = new Set<string>();
  return lists.flat().filter((object) => {
    const { uid, namespace, name } = object.metadata;
    // One object may be served under two groups; other namespaces are not asked about.
    if (object.kind === "Namespace" && !namespaces.includes(name)) return false;
    const key = uid ?? `${object.kind}/${namespace}/${name}`;
    return !seen.has(key) && seen.add(key);
  });
}

function edits(object: KubeObject, from: number): Change[] {
  const created = Date.parse(object.metadata.creationTimestamp);
  const found: Change[] = [];
  for (const entry of object.metadata.managedFields ?? []) {
    const time = Date.parse(entry.time);
    if (!(time >= from) || time - created < 1000 || entry.subresource === "status") continue;
    const controller = CONTROLLERS.test(entry.manager ?? "") && entry.subresource !== "scale";
    const fields = ownedFields(object, entry.fieldsV1).filter(({ path }) =>
      controller ? object.kind === "Node" && path.startsWith("spec") : !path.startsWith("status"),
    );
    if (fields.length === 0) continue;
    const how = entry.subresource ? `its ${entry.subresource} set` : entry.operation === "Apply" ? "applied" : "edited";
    const shown = fields.slice(0, MAX_FIELDS).map(({ path, value }) => field(object, path, value));
    found.push({
      time,
      entity: entityName(object),
      text: `${how} by ${entry.manager ?? "?"}${fields.length > MAX_FIELDS ? `, which manages ${fields.length} fields of it, among them` : ", which last wrote"}`,
      details: shown,
    });
  }
  return found;
}

function field(object: KubeObject, path: string, value: unknown): string {
  if (object.kind === "Secret" || value === undefined) return path;
  return `${path} = ${shown(value)}`;
}

function shown(value: unknown): string {
  const text = (JSON.stringify(value) ?? "nothing").replace(/:\/\/[^\s/@"]*@/g, "://<masked>@");
  return text.length > MAX_VALUE ? `${[...text].slice(0, MAX_VALUE).join("")}...` : text;
}

/** What was made; many objects made together are one change. */
function creations(objects: readonly KubeObject[], from: number): Change[] {
  const made = objects
    .map((object) => ({ object, time: Date.parse(object.metadata.creationTimestamp) }))
    .filter(({ time }) => time >= from)
    .sort((a, b) => a.time - b.time);
  const groups: (typeof made)[] = [];
  for (const one of made) {
    const last = groups.at(-1);
    if (last !== undefined && one.time - last[0]!.time <= TOGETHER_MS) last.push(one);
    else groups.push([one]);
  }
  return groups.flatMap((group) => {
    if (group.length <= MANY) {
      return group.map(({ object, time }) => {
        const by = object.metadata.managedFields?.find((entry: any) => entry.subresource !== "status")?.manager;
        return { time, entity: entityName(object), text: `created${by ? ` by ${by}` : ""}`, details: [] };
      });
    }
    const kinds = new Map<string, number>();
    for (const { object } of group) kinds.set(object.kind, (kinds.get(object.kind) ?? 0) + 1);
    const list = [...kinds].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} ${kind}`);
    return [
      { time: group[0]!.time, entity: "", text: `${group.length} objects created: ${list.join(", ")}`, details: [] },
    ];
  });
}

function deletions(object: KubeObject): Change[] {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined) return [];
  const waits = finalizers.length === 0 ? "" : `, waits for ${finalizers.join(", ")}`;
  const time = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return [{ time, entity: entityName(object), text: `is being deleted${waits}`, details: [] }];
}

interface Revision {
  number: number;
  time: number;
  template: any;
}

/** New revisions of workloads, each with what is different from the one before. */
function rollouts(
  objects: readonly KubeObject[],
  replicaSets: readonly KubeObject[],
  controllerRevisions: readonly KubeObject[],
  from: number,
): Change[] {
  const found: Change[] = [];
  for (const object of objects) {
    const owned = (one: KubeObject) =>
      (one.metadata.ownerReferences ?? []).some((owner: any) => owner.uid === object.metadata.uid);
    const revisions =
      object.kind === "Deployment"
        ? replicaSets.filter(owned).map((one) => deploymentRevision(one, object))
        : ["StatefulSet", "DaemonSet"].includes(object.kind)
          ? controllerRevisions.filter(owned).map(controllerRevision)
          : [];
    revisions.sort((a, b) => a.number - b.number);
    for (let i = 1; i < revisions.length; i++) {
      const [before, after] = [revisions[i - 1]!, revisions[i]!];
      if (after.time < from) continue;
      const lines = differences(before.template, after.template).map(({ path, before: old, after: now }) =>
        old === undefined
          ? `+ ${path}: ${shown(now)}`
          : now === undefined
            ? `- ${path}: ${shown(old)}`
            : `~ ${path}: ${shown(old)} -> ${shown(now)}`,
      );
      const more = lines.length > 2 * MAX_FIELDS ? [`... and ${lines.length - 2 * MAX_FIELDS} more`] : [];
      found.push({
        time: after.time,
        entity: entityName(object),
        text: `new pod template, revision ${before.number} -> ${after.number}${lines.length === 0 ? " (the same template)" : ""}`,
        details: [...lines.slice(0, 2 * MAX_FIELDS), ...more],
      });
    }
  }
  return found;
}

function deploymentRevision(replicaSet: KubeObject, deployment: KubeObject): Revision {
  const { metadata = {}, ...template } = replicaSet.spec?.template ?? {};
  const { "pod-template-hash": _, ...labels } = metadata.labels ?? {};
  const number = Number(replicaSet.metadata.annotations?.["deployment.kubernetes.io/revision"] ?? 0);
  const current = Number(deployment.metadata.annotations?.["deployment.kubernetes.io/revision"] ?? 0);
  const created = Date.parse(replicaSet.metadata.creationTimestamp);
  // A template that came back has its old replica set, under a new number: then the deployment's last edit tells when.
  const back =
    number === current && (replicaSet.metadata.annotations?.["deployment.kubernetes.io/revision-history"] ?? "");
  const edited = (deployment.metadata.managedFields ?? [])
    .filter((entry: any) => entry.subresource === undefined && !CONTROLLERS.test(entry.manager ?? ""))
    .map((entry: any) => Date.parse(entry.time));
  return {
    number,
    time: back ? Math.max(created, ...edited) : created,
    template: { metadata: { ...metadata, labels }, ...template },
  };
}

function controllerRevision(revision: KubeObject): Revision {
  const { $patch: _, ...template } = revision.data?.spec?.template ?? {};
  return { number: revision.revision ?? 0, time: Date.parse(revision.metadata.creationTimestamp), template };
}

function firstTime(event: KubeObject): number {
  return Date.parse(event.firstTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp);
}

function lastTime(event: KubeObject): number {
  return Date.parse(
    event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp,
  );
}

function involved(event: KubeObject): string {
  const { namespace = "", kind = "?", name = "?" } = event.involvedObject ?? {};
  return `${kind === "Node" ? "" : namespace}/${kind}/${name}`;
}

/** Scalings, evictions, nodes that come and go; without those that a rollout or a creation explains. */
function changeEvents(
  events: readonly KubeObject[],
  known: readonly Change[],
  objects: readonly KubeObject[],
): Change[] {
  const created = new Map(objects.map((one) => [entityName(one), Date.parse(one.metadata.creationTimestamp)]));
  return events.flatMap((event) => {
    if (!CHANGE_EVENTS.test(event.reason ?? "")) return [];
    const [entity, time] = [involved(event), lastTime(event)];
    const explained =
      (event.reason === "ScalingReplicaSet" || event.reason === "NodeReady") &&
      (near(time, created.get(entity)) || known.some((one) => one.entity === entity && near(time, one.time)));
    if (explained) return [];
    return [{ time, entity, text: `${event.reason}: ${oneLine(event.message)}`, details: [] }];
  });
}

function near(time: number, before: number | undefined): boolean {
  return before !== undefined && time >= before && time - before <= CONSEQUENCE_MS;
}

function warnings(events: readonly KubeObject[]): Change[] {
  const groups = new Map<string, Change & { count: number; others: Set<string> }>();
  for (const event of events) {
    if (event.type === "Normal" || CHANGE_EVENTS.test(event.reason ?? "")) continue;
    const entity = involved(event);
    // Pods of one workload complain of the same.
    const key = `${event.reason} ${entity.replace(/(-[a-z0-9]{6,10})?-[a-z0-9]{5}$/, "")}`;
    const group = groups.get(key) ?? {
      time: firstTime(event),
      entity,
      text: "",
      details: [],
      count: 0,
      others: new Set(),
    };
    group.time = Math.min(group.time, firstTime(event));
    group.count += event.series?.count ?? event.count ?? 1;
    group.others.add(entity);
    group.text = `${event.reason} x${group.count}${group.others.size > 1 ? ` on ${group.others.size} objects` : ""}: ${oneLine(event.message)}`;
    groups.set(key, group);
  }
  return [...groups.values()].map(({ time, entity, text, details }) => ({ time, entity, text, details }));
}

function oneLine(text: unknown): string {
  const flat = String(text ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return flat.length > 200 ? `${[...flat].slice(0, 200).join("")}...` : flat;
}
