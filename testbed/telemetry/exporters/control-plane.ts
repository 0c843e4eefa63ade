/**
 * The control plane's own metrics, modestly: requests of the API server (writes as they happen in the store, reads as a
 * steady background that a real cluster's components make), the scheduler's attempts, `up` of each component.
 */
import type { KubeApi } from "../../kube/api.js";
import type { Exporter, Labels, MetricStore, Series } from "../metrics.js";
import { createHistogram, type Histogram } from "./histogram.js";

const VERSION = { git_version: "v1.34.2", major: "1", minor: "34" };
const SLI_BOUNDS = [0.05, 0.1, 0.5, 1, 5, 30, 60];
/** What a request to a healthy API server takes. */
const REQUEST_SECONDS = 0.004;
/** Client certificates are good for most of a year. */
const CERTIFICATE_BOUNDS = [0, 21600, 86400, 345600, 604800, 2592000, 7776000, 15552000, 31104000];
const CERTIFICATE_SECONDS = 300 * 24 * 3600;
/** Requests that the API server makes to itself. */
const OWN_PER_SECOND = 0.5;
const SCHEDULE_BOUNDS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512];
const SCHEDULE_SECONDS = 0.003;

/** Requests a second that kubelets, controllers and monitoring make all the time. */
const BACKGROUND: readonly { verb: string; resource: string; scope: string; perSecond: number }[] = [
  { verb: "GET", resource: "nodes", scope: "resource", perSecond: 0.6 },
  { verb: "GET", resource: "configmaps", scope: "resource", perSecond: 0.4 },
  { verb: "LIST", resource: "pods", scope: "namespace", perSecond: 0.2 },
  { verb: "LIST", resource: "pods", scope: "cluster", perSecond: 0.1 },
  { verb: "PUT", resource: "leases", scope: "resource", perSecond: 0.8 },
  { verb: "PATCH", resource: "nodes", scope: "resource", perSecond: 0.1 },
];

const WRITES = { ADDED: ["POST", "201"], MODIFIED: ["PUT", "200"], DELETED: ["DELETE", "200"] } as const;

interface Counter {
  series: Series;
  sli: Histogram;
  count: number;
  reported: number;
}

export function apiServerExporter(kube: KubeApi, store: MetricStore): Exporter {
  const target = { job: "apiserver", instance: "kubernetes.default:443" };
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  let collectedAt: number | undefined;

  function counter(verb: string, code: string, resource: string, scope: string): Counter {
    const key = `${verb} ${code} ${resource} ${scope}`;
    let found = counters.get(key);
    if (found === undefined) {
      const [name = resource, ...group] = resource.split(".");
      const labels = { verb, code, resource: name, group: group.join("."), scope, component: "apiserver" };
      const sliKey = `${verb} ${scope}`;
      let sli = histograms.get(sliKey);
      if (sli === undefined) {
        const sliLabels = { ...target, verb, scope, component: "apiserver" };
        sli = createHistogram(store, "apiserver_request_sli_duration_seconds", sliLabels, SLI_BOUNDS, REQUEST_SECONDS);
        histograms.set(sliKey, sli);
      }
      found = {
        series: store.series({ __name__: "apiserver_request_total", ...target, ...labels }),
        sli,
        count: 0,
        reported: 0,
      };
      counters.set(key, found);
    }
    return found;
  }

  kube.watch("*", ({ type, resource }) => {
    const [verb, code] = WRITES[type];
    counter(verb, code, resource, "resource").count++;
  });
  const single = constantSeries(store, [
    ["up", target, 1],
    ["kubernetes_build_info", { ...target, ...VERSION }, 1],
    ["apiserver_current_inflight_requests", { ...target, request_kind: "mutating" }, 0],
    ["apiserver_current_inflight_requests", { ...target, request_kind: "readOnly" }, 1],
    ["aggregator_unavailable_apiservice", { ...target, name: "v1beta1.metrics.k8s.io" }, 0],
    ["aggregator_unavailable_apiservice_total", { ...target, name: "v1beta1.metrics.k8s.io", reason: "other" }, 0],
    ["apiserver_request_terminations_total", { ...target, code: "429" }, 0],
  ]);
  const certificates = createHistogram(
    store,
    "apiserver_client_certificate_expiration_seconds",
    target,
    CERTIFICATE_BOUNDS,
    CERTIFICATE_SECONDS,
  );
  const own = store.series({
    __name__: "rest_client_requests_total",
    ...target,
    code: "200",
    method: "GET",
    host: "[::1]:6443",
  });
  let ownRequests = 0;

  return {
    name: "apiserver",
    collect(emit, nowMs) {
      const elapsed = collectedAt === undefined ? 0 : (nowMs - collectedAt) / 1000;
      collectedAt = nowMs;
      for (const { series, value } of single) emit(series, value);
      ownRequests += OWN_PER_SECOND * elapsed;
      emit(own, Math.floor(ownRequests));
      certificates.observe(Math.round(elapsed));
      certificates.emit(emit);
      for (const { verb, resource, scope, perSecond } of BACKGROUND) {
        counter(verb, "200", resource, scope).count += perSecond * elapsed;
      }
      for (const entry of counters.values()) {
        const count = Math.floor(entry.count);
        emit(entry.series, count);
        entry.sli.observe(count - entry.reported);
        entry.reported = count;
      }
      for (const sli of histograms.values()) sli.emit(emit);
    },
  };
}

export function schedulerExporter(kube: KubeApi, store: MetricStore): Exporter {
  const target = { job: "kube-scheduler", instance: "kube-scheduler:10259" };
  const attempt = (result: string): Histogram =>
    createHistogram(
      store,
      "scheduler_scheduling_attempt_duration_seconds",
      { ...target, profile: "default-scheduler", result },
      SCHEDULE_BOUNDS,
      SCHEDULE_SECONDS,
    );
  const scheduled = attempt("scheduled");
  const unschedulable = attempt("unschedulable");
  const algorithm = createHistogram(
    store,
    "scheduler_scheduling_algorithm_duration_seconds",
    target,
    SCHEDULE_BOUNDS,
    0.001,
  );
  const sli = createHistogram(
    store,
    "scheduler_pod_scheduling_sli_duration_seconds",
    { ...target, attempts: "1" },
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 5.12, 20.48, 81.92, 327.68],
    SCHEDULE_SECONDS,
  );
  const waiting = new Set<string>();
  const pending = store.series({ __name__: "scheduler_pending_pods", ...target, queue: "unschedulable" });
  const single = constantSeries(store, [
    ["up", target, 1],
    ["kubernetes_build_info", { ...target, ...VERSION }, 1],
  ]);

  kube.watch("pods", ({ type, object, previous }) => {
    const key = object.metadata.uid ?? object.metadata.name;
    const refused = (pod: typeof object | undefined) =>
      pod?.status?.conditions?.some((one: any) => one.type === "PodScheduled" && one.status === "False") ?? false;
    if (type === "DELETED" || object.spec.nodeName) waiting.delete(key);
    if (type === "DELETED") return;
    if (object.spec.nodeName && !previous?.spec.nodeName) {
      for (const histogram of [scheduled, algorithm, sli]) histogram.observe(1);
    } else if (refused(object) && !object.spec.nodeName) {
      if (!refused(previous)) unschedulable.observe(1);
      waiting.add(key);
    }
  });
  return {
    name: "kube-scheduler",
    collect(emit) {
      for (const { series, value } of single) emit(series, value);
      emit(pending, waiting.size);
      for (const histogram of [scheduled, unschedulable, algorithm, sli]) histogram.emit(emit);
    },
  };
}

export function controllerManagerExporter(store: MetricStore): Exporter {
  const target = { job: "kube-controller-manager", instance: "kube-controller-manager:10257" };
  const single = constantSeries(store, [
    ["up", target, 1],
    ["kubernetes_build_info", { ...target, ...VERSION }, 1],
  ]);
  return {
    name: "kube-controller-manager",
    collect(emit) {
      for (const { series, value } of single) emit(series, value);
    },
  };
}

function constantSeries(store: MetricStore, list: readonly (readonly [name: string, labels: Labels, value: number])[]) {
  return list.map(([name, labels, value]) => ({ series: store.series({ __name__: name, ...labels }), value }));
}
