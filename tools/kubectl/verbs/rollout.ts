/** `kubectl rollout status|history|undo|restart|pause|resume`. */
import { kindPrefix, qualifiedName, resourcePath } from "../client/discovery.js";
import { JSON_PATCH, STRATEGIC_PATCH } from "../client/rest.js";
import { type Found, listObjects } from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { formatSelector } from "../describe/common.js";
import { podTemplate } from "../describe/containers.js";
import { splitReplicaSets, templateKey } from "../describe/workloads.js";
import { Description } from "../describe/writer.js";
import { usageError } from "../errors.js";
import { objectPrinter, outputFormat } from "../printers/output.js";
import { alignTabs, DESCRIBE_TABS } from "../printers/tabwriter.js";
import { timestamp } from "../printers/time.js";
import { FILENAME, OUTPUT, SELECTOR, WRITING } from "./flag-sets.js";
import { dryRun, eachObject, patchObject, printOutcome, targetsOf } from "./writing.js";

const REVISION = "deployment.kubernetes.io/revision";
const CHANGE_CAUSE = "kubernetes.io/change-cause";
/** Annotations of a replica set that the deployment controller wrote: they do not go back into the deployment. */
const OWN_ANNOTATIONS = [
  "kubectl.kubernetes.io/last-applied-configuration",
  REVISION,
  "deployment.kubernetes.io/revision-history",
  "deployment.kubernetes.io/desired-replicas",
  "deployment.kubernetes.io/max-replicas",
  "deprecated.deployment.rollback.to",
];
const POLL_SECONDS = 1;
/** kubectl would watch for ever; an agent's step must end. */
const LONGEST_WATCH_SECONDS = 300;

const COMMON = { ...SELECTOR, ...FILENAME, ...OUTPUT } as const;

/** kubectl's text on how far a rollout is, and whether it is done. */
export function rolloutProgress(object: any, revision = 0): { text: string; done: boolean } {
  const { metadata, spec, status = {} } = object;
  const { name } = metadata;
  const observed = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
  const n = (field: string) => Number(status[field] ?? 0);
  switch (object.kind) {
    case "Deployment": {
      if (!observed) return { text: "Waiting for deployment spec update to be observed...", done: false };
      const progressing = (status.conditions ?? []).find((c: any) => c.type === "Progressing");
      if (revision > 0 && Number(metadata.annotations?.[REVISION]) !== revision)
        throw usageError(
          `desired revision (${revision}) is different from the running revision (${metadata.annotations?.[REVISION]})`,
        );
      if (progressing?.reason === "ProgressDeadlineExceeded")
        throw usageError(`deployment "${name}" exceeded its progress deadline`);
      const head = `Waiting for deployment "${name}" rollout to finish:`;
      if (n("updatedReplicas") < (spec.replicas ?? 0))
        return {
          text: `${head} ${n("updatedReplicas")} out of ${spec.replicas} new replicas have been updated...`,
          done: false,
        };
      if (n("replicas") > n("updatedReplicas"))
        return {
          text: `${head} ${n("replicas") - n("updatedReplicas")} old replicas are pending termination...`,
          done: false,
        };
      if (n("availableReplicas") < n("updatedReplicas"))
        return {
          text: `${head} ${n("availableReplicas")} of ${n("updatedReplicas")} updated replicas are available...`,
          done: false,
        };
      return { text: `deployment "${name}" successfully rolled out`, done: true };
    }
    case "DaemonSet": {
      if (spec.updateStrategy?.type !== "RollingUpdate")
        throw usageError("rollout status is only available for RollingUpdate strategy type");
      if (!observed) return { text: "Waiting for daemon set spec update to be observed...", done: false };
      const head = `Waiting for daemon set "${name}" rollout to finish:`;
      const desired = n("desiredNumberScheduled");
      if (n("updatedNumberScheduled") < desired)
        return {
          text: `${head} ${n("updatedNumberScheduled")} out of ${desired} new pods have been updated...`,
          done: false,
        };
      if (n("numberAvailable") < desired)
        return { text: `${head} ${n("numberAvailable")} of ${desired} updated pods are available...`, done: false };
      return { text: `daemon set "${name}" successfully rolled out`, done: true };
    }
    case "StatefulSet": {
      if (spec.updateStrategy?.type !== "RollingUpdate")
        throw usageError("rollout status is only available for RollingUpdate strategy type");
      if (!observed || !status.observedGeneration)
        return { text: "Waiting for statefulset spec update to be observed...", done: false };
      const replicas = spec.replicas ?? 0;
      if (n("readyReplicas") < replicas)
        return { text: `Waiting for ${replicas - n("readyReplicas")} pods to be ready...`, done: false };
      const rolling = spec.updateStrategy?.rollingUpdate;
      if (rolling) {
        const wanted = replicas - (rolling.partition ?? 0);
        if (rolling.partition !== undefined && n("updatedReplicas") < wanted)
          return {
            text: `Waiting for partitioned roll out to finish: ${n("updatedReplicas")} out of ${wanted} new pods have been updated...`,
            done: false,
          };
        return {
          text: `partitioned roll out complete: ${n("updatedReplicas")} new pods have been updated...`,
          done: true,
        };
      }
      if (status.updateRevision !== status.currentRevision)
        return {
          text: `waiting for statefulset rolling update to complete ${n("updatedReplicas")} pods at revision ${status.updateRevision}...`,
          done: false,
        };
      return {
        text: `statefulset rolling update complete ${n("currentReplicas")} pods at revision ${status.currentRevision}...`,
        done: true,
      };
    }
    default:
      throw usageError(`no status viewer has been implemented for ${object.kind}`);
  }
}

async function targets(context: Context): Promise<{ found: Found[]; errors: unknown[] }> {
  const got = await targetsOf(context, context.args, {
    // A kind alone means all of its objects, as ITBench's own solutions use it.
    needName: false,
    what: "required resource not specified",
  });
  if (got.found.length === 0 && got.errors.length > 0)
    throw got.errors.length === 1 ? got.errors[0] : new AggregateError(got.errors);
  return got;
}

const status: Verb = {
  name: ["rollout", "status"],
  access: "read",
  flags: {
    ...SELECTOR,
    ...FILENAME,
    watch: { type: "bool", short: "w", default: true },
    revision: { type: "int" },
    timeout: { type: "duration", default: "0s" },
  },
  async run(context) {
    const { flags } = context;
    const { found, errors } = await targets(context);
    await eachObject(context, found, errors, async (item) => {
      const limit = flags.duration("timeout") || LONGEST_WATCH_SECONDS;
      let object = item.object;
      let shown = "";
      for (let waited = 0; ; waited += POLL_SECONDS) {
        const progress = rolloutProgress(object, flags.int("revision"));
        if (progress.text !== shown) context.out(`${progress.text}\n`);
        shown = progress.text;
        if (progress.done || !flags.bool("watch")) return;
        if (waited >= limit) throw usageError("timed out waiting for the condition");
        await context.sleep(POLL_SECONDS);
        object = await context.client.json({
          path: resourcePath(item.resource, object.metadata.namespace, object.metadata.name),
        });
      }
    });
  },
};

interface Revision {
  number: number;
  cause: string;
  template: any;
  /** The replica set or controller revision. */
  object: any;
}

async function revisions(context: Context, item: Found): Promise<Revision[]> {
  const { object } = item;
  const { namespace } = object.metadata;
  if (object.kind === "Deployment") {
    const sets = await listObjects(
      context,
      await context.discovery.resolve("replicasets.apps"),
      { labelSelector: selectorText(object), fieldSelector: "" },
      namespace,
    );
    return splitReplicaSets(object, sets)
      .all.map((rs) => ({
        number: Number(rs.metadata.annotations?.[REVISION] ?? 0),
        cause: rs.metadata.annotations?.[CHANGE_CAUSE] ?? "<none>",
        template: rs.spec.template,
        object: rs,
      }))
      .filter((r) => r.number > 0)
      .sort((a, b) => a.number - b.number);
  }
  if (object.kind === "StatefulSet" || object.kind === "DaemonSet") {
    const list = await listObjects(
      context,
      await context.discovery.resolve("controllerrevisions.apps"),
      { labelSelector: selectorText(object), fieldSelector: "" },
      namespace,
    );
    return list
      .filter((cr) => (cr.metadata.ownerReferences ?? []).some((o: any) => o.uid === object.metadata.uid))
      .map((cr) => ({
        number: Number(cr.revision),
        cause: cr.metadata.annotations?.[CHANGE_CAUSE] ?? "<none>",
        template: cr.data?.spec?.template,
        object: cr,
      }))
      .sort((a, b) => a.number - b.number);
  }
  throw usageError(`no history viewer has been implemented for ${JSON.stringify(object.kind)}`);
}

function selectorText(object: any): string {
  const text = formatSelector(object.spec?.selector);
  return text === "<none>" ? "" : text;
}

const history: Verb = {
  name: ["rollout", "history"],
  access: "read",
  flags: { ...COMMON, revision: { type: "int" } },
  async run(context) {
    const wanted = context.flags.int("revision");
    if (wanted < 0) throw usageError(`revision must be a positive integer: ${wanted}`);
    const { found, errors } = await targets(context);
    await eachObject(context, found, errors, async (item) => {
      const list = await revisions(context, item);
      const title = `${kindPrefix(item.resource)}/${item.object.metadata.name}`;
      if (outputFormat(context).format !== "") {
        const chosen = wanted > 0 ? list.find((r) => r.number === wanted) : list.at(-1);
        if (!chosen) throw usageError(`unable to find the specified revision`);
        context.out(objectPrinter(context)(chosen.object, item.resource.group));
        return;
      }
      if (wanted > 0) {
        const chosen = list.find((r) => r.number === wanted);
        if (!chosen) throw usageError("unable to find the specified revision");
        const w = new Description();
        podTemplate(w, {
          ...chosen.template,
          metadata: {
            ...chosen.template?.metadata,
            ...(chosen.cause !== "<none>"
              ? { annotations: { ...chosen.template?.metadata?.annotations, [CHANGE_CAUSE]: chosen.cause } }
              : {}),
          },
        });
        context.out(`${title} with revision #${wanted}\n${w.unaligned()}\n`);
        return;
      }
      const rows = list.map((r) => `${r.number}\t${r.cause}\n`).join("");
      context.out(
        list.length === 0
          ? `${title} \nNo rollout history found.\n`
          : `${title} \n${alignTabs(`REVISION\tCHANGE-CAUSE\n${rows}`, DESCRIBE_TABS)}\n`,
      );
    });
  },
};

async function undoDeployment(context: Context, item: Found, to: number): Promise<string> {
  const { object } = item;
  if (object.spec.paused)
    throw usageError(
      "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again",
    );
  const list = await revisions(context, item);
  if (to === 0 && list.length < 2)
    throw usageError(`no rollout history found for deployment "${object.metadata.name}"`);
  const target = to > 0 ? list.find((r) => r.number === to) : list.at(-2);
  if (!target) throw usageError(`unable to find specified revision ${to} in history`);
  if (dryRun(context) === "client") {
    const w = new Description();
    podTemplate(w, target.template);
    return `will roll back to ${w.unaligned()}`;
  }
  if (templateKey(target.template) === templateKey(object.spec.template))
    return `skipped rollback (current template already matches revision ${target.number})`;
  const { "pod-template-hash": _, ...labels } = target.template.metadata?.labels ?? {};
  const template = { ...target.template, metadata: { ...target.template.metadata, labels } };
  const kept = Object.entries(object.metadata.annotations ?? {}).filter(([key]) => OWN_ANNOTATIONS.includes(key));
  const restored = Object.entries(target.object.metadata.annotations ?? {}).filter(
    ([key]) => !OWN_ANNOTATIONS.includes(key),
  );
  await patchObject(context, item, {
    body: [
      { op: "replace", path: "/spec/template", value: template },
      {
        op: "replace",
        path: "/metadata/annotations",
        value: Object.fromEntries([...kept, ...restored].sort(([a], [b]) => (a < b ? -1 : 1))),
      },
    ],
    contentType: JSON_PATCH,
    manager: "kubectl-rollout",
  });
  return "rolled back";
}

async function undoByRevision(context: Context, item: Found, to: number): Promise<string> {
  const list = await revisions(context, item);
  if (to === 0 && list.length < 2) throw usageError("no last revision to roll back to");
  const target = to > 0 ? list.find((r) => r.number === to) : list.at(-2);
  if (!target) throw usageError(`unable to find specified revision ${to} in history`);
  if (templateKey(target.template) === templateKey({ ...item.object.spec.template, $patch: target.template?.$patch }))
    return `skipped rollback (current template already matches revision ${target.number})`;
  await patchObject(context, item, {
    body: target.object.data,
    contentType: STRATEGIC_PATCH,
    manager: "kubectl-rollout",
  });
  return "rolled back";
}

const undo: Verb = {
  name: ["rollout", "undo"],
  access: "write",
  flags: { ...COMMON, ...WRITING, "to-revision": { type: "int" } },
  async run(context) {
    const { found, errors } = await targets(context);
    const to = context.flags.int("to-revision");
    if (to < 0) throw usageError(`invalid revision: ${to}`);
    await eachObject(context, found, errors, async (item) => {
      const result =
        item.object.kind === "Deployment"
          ? await undoDeployment(context, item, to)
          : await undoByRevision(context, item, to);
      printOutcome(context, item.resource, item.object, result);
    });
  },
};

const restart: Verb = {
  name: ["rollout", "restart"],
  access: "write",
  flags: { ...COMMON, ...WRITING },
  async run(context) {
    const { found, errors } = await targets(context);
    if (found.length === 0 && errors.length === 0)
      context.err(`No resources found in ${context.namespace} namespace.\n`);
    await eachObject(context, found, errors, async (item) => {
      const { object } = item;
      if (!["Deployment", "StatefulSet", "DaemonSet"].includes(object.kind))
        throw usageError(`${item.resource.name} "${object.metadata.name}" restarting is not supported`);
      if (object.spec.paused)
        throw usageError(
          `${qualifiedName(item.resource)} "${object.metadata.name}" can't restart paused deployment (run rollout resume first)`,
        );
      const at = timestamp(context.now());
      if (object.spec.template?.metadata?.annotations?.["kubectl.kubernetes.io/restartedAt"] === at)
        throw usageError(
          `failed to create patch for ${object.metadata.name}: if restart has already been triggered within the past second, please wait before attempting to trigger another`,
        );
      const after = await patchObject(context, item, {
        body: { spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": at } } } } },
        contentType: STRATEGIC_PATCH,
        manager: "kubectl-rollout",
      });
      printOutcome(context, item.resource, after, "restarted");
    });
  },
};

function pausing(name: "pause" | "resume"): Verb {
  return {
    name: ["rollout", name],
    access: "write",
    flags: { ...COMMON, ...WRITING },
    async run(context) {
      const paused = name === "pause";
      const { found, errors } = await targets(context);
      await eachObject(context, found, errors, async (item) => {
        const { object } = item;
        const title = `${qualifiedName(item.resource)} "${object.metadata.name}"`;
        if (object.kind !== "Deployment")
          throw usageError(`${title} ${paused ? "pausing" : "resuming"} is not supported`);
        if ((object.spec.paused === true) === paused)
          throw usageError(`${title} is ${paused ? "already" : "not"} paused`);
        const after = await patchObject(context, item, {
          body: { spec: { paused: paused ? true : null } },
          contentType: STRATEGIC_PATCH,
          manager: "kubectl-rollout",
        });
        printOutcome(context, item.resource, after, `${name}d`);
      });
    },
  };
}

export const rolloutVerbs: readonly Verb[] = [status, history, undo, restart, pausing("pause"), pausing("resume")];
