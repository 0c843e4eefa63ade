/** Cron jobs: a job each time the schedule says so, as far as the concurrency policy allows. */
import { type KubeObject, timestamp } from "../objects.js";
import { nextTime, parseCron } from "./cron-schedule.js";
import { same } from "./fields.js";
import { finishedAs } from "./job.js";
import { splitKey } from "./keys.js";
import { controllerReference, isControlledBy, MANAGER } from "./owners.js";
import { apiError, createdAt, type Plane } from "./plane.js";
import type { WorkQueue } from "./queue.js";

const CRON_JOBS = "cronjobs.batch";
const JOBS = "jobs.batch";

export function startCronJobs(plane: Plane): void {
  const queue = plane.queue((key) => sync(plane, queue, key));
  plane.follow(CRON_JOBS, queue);
  plane.followOwned(JOBS, "CronJob", CRON_JOBS, queue);
}

function sync(plane: Plane, queue: WorkQueue, key: string): void {
  const { api, clock } = plane;
  const { namespace, name } = splitKey(key);
  const cron = api.get(CRON_JOBS, namespace, name);
  if (cron === undefined || cron.metadata.deletionTimestamp !== undefined) return;
  const jobs = api.list(JOBS, namespace).filter((job) => isControlledBy(job, cron));
  const status: any = { ...cron.status };
  noteFinished(plane, cron, jobs, status);
  trimHistory(plane, cron, jobs);
  const schedule = parseCron(cron.spec.schedule ?? "");
  if (schedule === undefined) {
    event(plane, cron, "Warning", "UnparseableSchedule", `unparseable schedule: ${cron.spec.schedule}`);
  } else if (!cron.spec.suspend) {
    const last = status.lastScheduleTime ? Date.parse(status.lastScheduleTime) : createdAt(cron);
    const due = latestDue(schedule, last, clock.now());
    if (due !== undefined) start(plane, cron, jobs, status, due);
    const next = nextTime(schedule, clock.now());
    if (next !== undefined) queue.addAfter(key, next - clock.now());
  }
  if ((status.active ?? []).length === 0) delete status.active;
  if (same(status, cron.status ?? {})) return;
  const change = (draft: KubeObject) => {
    draft.status = status;
  };
  api.modify(CRON_JOBS, namespace, name, change, { manager: MANAGER, subresource: "status" });
}

/** The last scheduled instant in (after, now]. */
function latestDue(
  schedule: NonNullable<ReturnType<typeof parseCron>>,
  after: number,
  now: number,
): number | undefined {
  let due: number | undefined;
  for (let time = nextTime(schedule, after); time !== undefined && time <= now; time = nextTime(schedule, time))
    due = time;
  return due;
}

function noteFinished(plane: Plane, cron: KubeObject, jobs: KubeObject[], status: any): void {
  const active: any[] = [];
  for (const reference of status.active ?? []) {
    const job = jobs.find((candidate) => candidate.metadata.uid === reference.uid);
    const finished = job && finishedAs(job);
    if (job === undefined) {
      event(plane, cron, "Normal", "MissingJob", `Active job went missing: ${reference.name}`);
    } else if (finished) {
      const message = `Saw completed job: ${reference.name}, condition: ${finished.type}`;
      event(plane, cron, "Normal", "SawCompletedJob", message);
      if (finished.type === "Complete") status.lastSuccessfulTime = job.status.completionTime;
    } else active.push(reference);
  }
  status.active = active;
  // Jobs that somebody made from the template by hand are the CronJob's, too.
  const known = new Set(active.map((reference) => reference.uid));
  for (const job of jobs) {
    const finished = finishedAs(job);
    if (known.has(job.metadata.uid) || isScheduled(job)) continue;
    if (finished === undefined) {
      const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
      event(plane, cron, "Warning", "UnexpectedJob", message);
    } else if (finished.type === "Complete" && later(job.status.completionTime, status.lastSuccessfulTime)) {
      status.lastSuccessfulTime = job.status.completionTime;
    }
  }
}

const isScheduled = (job: KubeObject) =>
  job.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"] !== undefined;

const later = (time: string | undefined, than: string | undefined) =>
  time !== undefined && (than === undefined || Date.parse(time) > Date.parse(than));

function start(plane: Plane, cron: KubeObject, jobs: KubeObject[], status: any, due: number): void {
  const deadline = cron.spec.startingDeadlineSeconds;
  if (deadline !== undefined && due + deadline * 1000 < plane.clock.now()) {
    event(
      plane,
      cron,
      "Warning",
      "MissSchedule",
      `Missed scheduled time to start a job: ${new Date(due).toUTCString()}`,
    );
    return;
  }
  if (status.active.length > 0 && cron.spec.concurrencyPolicy === "Forbid") {
    event(
      plane,
      cron,
      "Normal",
      "JobAlreadyActive",
      "Not starting job because prior execution is running and concurrency policy is Forbid",
    );
    return;
  }
  if (status.active.length > 0 && cron.spec.concurrencyPolicy === "Replace") {
    for (const job of jobs) if (!finishedAs(job)) removeJob(plane, cron, job);
    status.active = [];
  }
  const template = structuredClone(cron.spec.jobTemplate);
  const name = `${cron.metadata.name}-${Math.floor(due / 60_000)}`;
  try {
    const job = plane.api.create(
      JOBS,
      {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: {
          ...template.metadata,
          name,
          namespace: cron.metadata.namespace,
          annotations: {
            ...template.metadata?.annotations,
            "batch.kubernetes.io/cronjob-scheduled-timestamp": timestamp(due),
          },
          ownerReferences: [controllerReference(cron)],
        },
        spec: template.spec,
      },
      { manager: MANAGER },
    );
    event(plane, cron, "Normal", "SuccessfulCreate", `Created job ${name}`);
    const { namespace, uid, resourceVersion } = job.metadata;
    status.active = [...status.active, { apiVersion: "batch/v1", kind: "Job", name, namespace, resourceVersion, uid }];
    status.lastScheduleTime = timestamp(due);
  } catch (error) {
    const { message, reason } = apiError(error);
    if (reason !== "AlreadyExists") event(plane, cron, "Warning", "FailedCreate", `Error creating job: ${message}`);
  }
}

function trimHistory(plane: Plane, cron: KubeObject, jobs: KubeObject[]): void {
  const limits: [string, number][] = [
    ["Complete", cron.spec.successfulJobsHistoryLimit ?? 3],
    ["Failed", cron.spec.failedJobsHistoryLimit ?? 1],
  ];
  for (const [type, limit] of limits) {
    const finished = jobs.filter((job) => finishedAs(job)?.type === type).sort((a, b) => createdAt(a) - createdAt(b));
    for (const job of finished.slice(0, Math.max(0, finished.length - limit))) removeJob(plane, cron, job);
  }
}

function removeJob(plane: Plane, cron: KubeObject, job: KubeObject): void {
  const { namespace, name } = job.metadata;
  if (plane.api.delete(JOBS, namespace, name, { propagationPolicy: "Background" }) === undefined) return;
  event(plane, cron, "Normal", "SuccessfulDelete", `Deleted job ${name}`);
}

function event(plane: Plane, cron: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void {
  plane.api.event(cron, { type, reason, message, component: "cronjob-controller" });
}
