/** Jobs: pods until enough have succeeded, with back-off, limits, indices and clean-up. */
import { type KubeObject, timestamp } from "../objects.js";
import { setOrOmit } from "./fields.js";
import { splitKey } from "./keys.js";
import { claim, controllerReference, MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";
import { isActive, isReady, podFromTemplate } from "./pods.js";
import type { WorkQueue } from "./queue.js";
import { replaceStatus } from "./status.js";

const JOBS = "jobs.batch";
const INDEX = "batch.kubernetes.io/job-completion-index";
const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 600_000;

export function startJobs(plane: Plane): void {
  const queue = plane.queue((key) => sync(plane, queue, key), { firstMs: 1_000, longestMs: 60_000 });
  plane.follow(JOBS, queue);
  plane.followOwned("pods", "Job", JOBS, queue);
}

interface Sync {
  plane: Plane;
  queue: WorkQueue;
  key: string;
  job: KubeObject;
  pods: KubeObject[];
  active: KubeObject[];
  succeeded: KubeObject[];
  failed: KubeObject[];
}

interface Ending {
  type: "Complete" | "Failed";
  reason: string;
  message: string;
}

function sync(plane: Plane, queue: WorkQueue, key: string): void {
  const { namespace, name } = splitKey(key);
  const job = plane.api.get(JOBS, namespace, name);
  if (job === undefined) {
    queue.forget(key);
    return;
  }
  if (job.metadata.deletionTimestamp !== undefined) return;
  if (finishedAs(job)) {
    expire(plane, queue, key, job);
    return;
  }
  const pods = claim(plane.api, job, "pods", job.spec.selector);
  const state: Sync = {
    plane,
    queue,
    key,
    job,
    pods,
    active: pods.filter(isActive),
    succeeded: pods.filter((pod) => pod.status?.phase === "Succeeded"),
    failed: pods.filter((pod) => pod.status?.phase === "Failed"),
  };
  const ending = job.spec.suspend ? undefined : verdict(state);
  if (ending) {
    for (const pod of state.active) deletePod(state, pod);
    state.active = [];
  } else if (job.spec.suspend) {
    for (const pod of state.active) deletePod(state, pod);
    state.active = [];
  } else manage(state);
  writeStatus(state, ending);
  if (!ending) return;
  if (ending.type === "Complete") event(state, "Normal", "Completed", "Job completed");
  else event(state, "Warning", ending.reason, ending.message);
}

/** The condition that ended the job, if it has ended. */
export function finishedAs(job: KubeObject): any {
  return job.status?.conditions?.find(
    (condition: any) => (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True",
  );
}

function verdict(state: Sync): Ending | undefined {
  const { job, plane, failed, active } = state;
  const restarts = job.spec.template.spec.restartPolicy === "OnFailure" ? sumRestarts(active) : 0;
  const limit = job.spec.backoffLimit ?? 6;
  if (failed.length > limit || restarts > limit || (restarts === limit && restarts > 0 && failed.length > 0)) {
    return {
      type: "Failed",
      reason: "BackoffLimitExceeded",
      message: "Job has reached the specified backoff limit",
    };
  }
  const deadline = job.spec.activeDeadlineSeconds;
  const started = job.status?.startTime;
  if (deadline !== undefined && started !== undefined) {
    const left = Date.parse(started) + deadline * 1000 - plane.clock.now();
    if (left <= 0) {
      return {
        type: "Failed",
        reason: "DeadlineExceeded",
        message: "Job was active longer than specified deadline",
      };
    }
    state.queue.addAfter(state.key, left);
  }
  if (isDone(state)) {
    return {
      type: "Complete",
      reason: "CompletionsReached",
      message: "Reached expected number of succeeded pods",
    };
  }
  return undefined;
}

function sumRestarts(pods: KubeObject[]): number {
  let sum = 0;
  for (const pod of pods) for (const status of pod.status?.containerStatuses ?? []) sum += status.restartCount ?? 0;
  return sum;
}

function isDone({ job, succeeded, active }: Sync): boolean {
  const completions = job.spec.completions;
  if (completions === undefined) return succeeded.length > 0 && active.length === 0;
  if (job.spec.completionMode !== "Indexed") return succeeded.length >= completions;
  return new Set(succeeded.map(indexOf)).size >= completions;
}

function indexOf(pod: KubeObject): number {
  return Number(pod.metadata.annotations?.[INDEX] ?? -1);
}

function manage(state: Sync): void {
  const { job, active, succeeded, queue, key } = state;
  const parallelism = job.spec.parallelism ?? 1;
  const { completions } = job.spec;
  const remaining = completions === undefined ? parallelism : completions - succeeded.length;
  // Without a number of completions no more is started once one has succeeded.
  const wanted = completions === undefined && succeeded.length > 0 ? active.length : Math.min(parallelism, remaining);
  for (const pod of active.slice(Math.max(0, wanted))) deletePod(state, pod);
  if (active.length >= wanted) {
    state.active = active.slice(0, Math.max(0, wanted));
    return;
  }
  const wait = backoffLeft(state);
  if (wait > 0) {
    queue.addAfter(key, wait);
    return;
  }
  try {
    const indices = freeIndices(state);
    for (let i = active.length; i < wanted; i++) state.active = [...state.active, createPod(state, indices.shift())];
    queue.forget(key);
  } catch (error) {
    const { message } = apiError(error);
    if (message.includes("because it is being terminated")) return;
    event(state, "Warning", "FailedCreate", `Error creating: ${message}`);
    queue.retry(key);
  }
}

function freeIndices({ job, active, succeeded }: Sync): number[] {
  if (job.spec.completionMode !== "Indexed") return [];
  const taken = new Set([...active, ...succeeded].map(indexOf));
  return Array.from({ length: job.spec.completions ?? 0 }, (_, i) => i).filter((i) => !taken.has(i));
}

/** Milliseconds until the next try after failures in a row. */
function backoffLeft({ failed, succeeded, plane }: Sync): number {
  const lastSuccess = Math.max(0, ...succeeded.map(finishTime));
  const recent = failed.map(finishTime).filter((time) => time > lastSuccess);
  if (recent.length === 0) return 0;
  const delay = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (recent.length - 1));
  return Math.max(0, Math.max(...recent) + delay - plane.clock.now());
}

function finishTime(pod: KubeObject): number {
  const ends = (pod.status?.containerStatuses ?? []).map((s: any) => Date.parse(s.state?.terminated?.finishedAt ?? ""));
  return Math.max(0, ...ends.filter((time: number) => !Number.isNaN(time)));
}

function createPod(state: Sync, index: number | undefined): KubeObject {
  const { plane, job } = state;
  const pod = podFromTemplate(job.spec.template, job, controllerReference(job));
  const { name, uid } = job.metadata;
  pod.metadata.labels = {
    ...pod.metadata.labels,
    "batch.kubernetes.io/controller-uid": uid ?? "",
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid ?? "",
    "job-name": name,
  };
  if (index !== undefined) {
    pod.metadata.generateName = `${name}-${index}-`;
    pod.metadata.labels[INDEX] = String(index);
    pod.metadata.annotations = { ...pod.metadata.annotations, [INDEX]: String(index) };
    pod.spec.hostname = `${name}-${index}`;
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      const valueFrom = { fieldRef: { fieldPath: `metadata.labels['${INDEX}']` } };
      container.env = [...(container.env ?? []), { name: "JOB_COMPLETION_INDEX", valueFrom }];
    }
  }
  const created = plane.api.create("pods", pod, { manager: MANAGER });
  event(state, "Normal", "SuccessfulCreate", `Created pod: ${created.metadata.name}`);
  return created;
}

function deletePod(state: Sync, pod: KubeObject): void {
  const { namespace, name } = pod.metadata;
  if (state.plane.api.delete("pods", namespace, name) === undefined) return;
  event(state, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
}

function writeStatus(state: Sync, ending: Ending | undefined): void {
  const { plane, job, active, succeeded, failed, pods } = state;
  const now = timestamp(plane.clock.now());
  const status: any = { ...job.status };
  if (!job.spec.suspend) status.startTime ??= now;
  const suspended = suspension(state, now);
  if (suspended) status.conditions = suspended;
  setOrOmit(status, "active", active.length);
  setOrOmit(status, "succeeded", succeeded.length);
  setOrOmit(status, "failed", failed.length);
  status.ready = active.filter(isReady).length;
  status.terminating = pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined).length;
  status.uncountedTerminatedPods ??= {};
  if (job.spec.completionMode === "Indexed") {
    setOrOmit(status, "completedIndexes", ranges([...new Set(succeeded.map(indexOf))].sort((a, b) => a - b)));
  }
  if (ending) {
    const entry = (type: string) => ({
      lastProbeTime: now,
      lastTransitionTime: now,
      message: ending.message,
      reason: ending.reason,
      status: "True",
      type,
    });
    const before = ending.type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    status.conditions = [...(status.conditions ?? []), entry(before), entry(ending.type)];
    if (ending.type === "Complete") status.completionTime = now;
  }
  replaceStatus(plane.api, JOBS, job, status);
}

/** The Suspended condition where it changes, with its event. */
function suspension(state: Sync, now: string): any[] | undefined {
  const conditions: any[] = state.job.status?.conditions ?? [];
  const current = conditions.find((condition) => condition.type === "Suspended");
  const suspend = state.job.spec.suspend === true;
  if ((current?.status === "True") === suspend) return undefined;
  const [reason, message] = suspend ? ["JobSuspended", "Job suspended"] : ["JobResumed", "Job resumed"];
  event(state, "Normal", suspend ? "Suspended" : "Resumed", message ?? "");
  const entry = {
    lastProbeTime: now,
    lastTransitionTime: now,
    message,
    reason,
    status: suspend ? "True" : "False",
    type: "Suspended",
  };
  return [...conditions.filter((condition) => condition.type !== "Suspended"), entry];
}

/** `0-2,4` */
function ranges(indices: number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < indices.length; ) {
    let end = i;
    while (indices[end + 1] === (indices[end] ?? 0) + 1) end++;
    parts.push(end === i ? String(indices[i]) : `${indices[i]}-${indices[end]}`);
    i = end + 1;
  }
  return parts.join(",");
}

/** Deletes a finished job after its time to live. */
function expire(plane: Plane, queue: WorkQueue, key: string, job: KubeObject): void {
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined) return;
  const left = Date.parse(finishedAs(job).lastTransitionTime) + ttl * 1000 - plane.clock.now();
  if (left > 0) queue.addAfter(key, left);
  else plane.api.delete(JOBS, job.metadata.namespace, job.metadata.name, { propagationPolicy: "Foreground" });
}

function event(state: Sync, type: "Normal" | "Warning", reason: string, message: string): void {
  state.plane.api.event(state.job, { type, reason, message, component: "job-controller" });
}
