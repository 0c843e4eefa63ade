/** Jobs and cron jobs. */
import type { KindMetrics } from "../object-cache.js";
import { flag, owners, seconds, writeCondition, writeIf } from "./values.js";

export const jobs: KindMetrics = {
  resource: "jobs.batch",
  samples(object, write) {
    const { metadata, spec, status = {} } = object;
    const labels = { namespace: metadata.namespace ?? "", job_name: metadata.name };
    write("kube_job_info", labels, 1);
    writeIf(write, "kube_job_created", labels, seconds(metadata.creationTimestamp));
    writeIf(write, "kube_job_spec_parallelism", labels, spec.parallelism);
    writeIf(write, "kube_job_spec_completions", labels, spec.completions);
    writeIf(write, "kube_job_spec_active_deadline_seconds", labels, spec.activeDeadlineSeconds);
    write("kube_job_status_active", labels, status.active ?? 0);
    write("kube_job_status_succeeded", labels, status.succeeded ?? 0);
    writeIf(write, "kube_job_status_start_time", labels, seconds(status.startTime));
    writeIf(write, "kube_job_status_completion_time", labels, seconds(status.completionTime));
    const failed = status.conditions?.find(
      (condition: any) => condition.type === "Failed" && condition.status === "True",
    );
    if (failed === undefined) write("kube_job_status_failed", labels, status.failed ?? 0);
    for (const reason of failed === undefined ? [] : ["BackoffLimitExceeded", "DeadlineExceeded", "Evicted"]) {
      write("kube_job_status_failed", { ...labels, reason }, flag(failed.reason === reason));
    }
    for (const condition of status.conditions ?? []) {
      const name = condition.type === "Complete" ? "kube_job_complete" : "kube_job_failed";
      if (condition.type !== "Complete" && condition.type !== "Failed") continue;
      writeCondition(write, name, labels, "condition", condition.status);
    }
    for (const owner of owners(object)) write("kube_job_owner", { ...labels, ...owner }, 1);
  },
};

export const cronJobs: KindMetrics = {
  resource: "cronjobs.batch",
  samples(object, write) {
    const { metadata, spec, status = {} } = object;
    const labels = { namespace: metadata.namespace ?? "", cronjob: metadata.name };
    const policy = spec.concurrencyPolicy ?? "Allow";
    write(
      "kube_cronjob_info",
      { ...labels, schedule: spec.schedule ?? "", concurrency_policy: policy, timezone: spec.timeZone ?? "local" },
      1,
    );
    writeIf(write, "kube_cronjob_created", labels, seconds(metadata.creationTimestamp));
    write("kube_cronjob_spec_suspend", labels, flag(spec.suspend));
    writeIf(write, "kube_cronjob_spec_starting_deadline_seconds", labels, spec.startingDeadlineSeconds);
    writeIf(write, "kube_cronjob_spec_successful_job_history_limit", labels, spec.successfulJobsHistoryLimit);
    writeIf(write, "kube_cronjob_spec_failed_job_history_limit", labels, spec.failedJobsHistoryLimit);
    write("kube_cronjob_status_active", labels, status.active?.length ?? 0);
    writeIf(write, "kube_cronjob_status_last_schedule_time", labels, seconds(status.lastScheduleTime));
    writeIf(write, "kube_cronjob_status_last_successful_time", labels, seconds(status.lastSuccessfulTime));
  },
};
