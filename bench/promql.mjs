/**
 * How long rules take: 130 rules over about 7,000 series, evaluated 90 times on the virtual clock, as in one trial.
 * Run after `npm run build`. Prints milliseconds; the budget for the rules is 250 ms.
 */
import { performance } from "node:perf_hooks";
import { VirtualClock } from "../dist/testbed/clock.js";
import { createMetricStore } from "../dist/testbed/telemetry/metric-store.js";
import { prepare } from "../dist/testbed/telemetry/promql/index.js";
import { createRuleEngine, kubernetesRules, loadRules } from "../dist/testbed/telemetry/rules/index.js";
import { startScraper } from "../dist/testbed/telemetry/scraper.js";

const TICKS = 90;
const STEP = 30_000;
const START = Date.UTC(2026, 0, 15, 9);

/** 25 services, two pods each, with the families that the testbed exports: label sets by the thousand. */
function makeSeries(store) {
  const list = [];
  const add = (labels) => list.push(store.series(labels));
  const namespace = "otel-demo";
  for (let s = 0; s < 25; s++) {
    const service_name = `service-${s}`;
    for (let p = 0; p < 2; p++) {
      const pod = `${service_name}-6d5f8c7b9-x${p}`;
      const common = { namespace, pod, job: "kube-state-metrics" };
      for (const phase of ["Pending", "Running", "Succeeded", "Failed", "Unknown"]) {
        add({ __name__: "kube_pod_status_phase", ...common, phase });
      }
      for (const condition of ["true", "false", "unknown"])
        add({ __name__: "kube_pod_status_ready", ...common, condition });
      add({ __name__: "kube_pod_owner", ...common, owner_kind: "ReplicaSet", owner_name: `${service_name}-6d5f8c7b9` });
      for (let m = 0; m < 30; m++) {
        add({ __name__: `container_metric_${m}`, namespace, pod, container: service_name, node: `node-${p}` });
      }
      add({
        __name__: "container_cpu_usage_seconds_total",
        namespace,
        pod,
        container: service_name,
        node: `node-${p}`,
      });
      add({
        __name__: "container_memory_working_set_bytes",
        namespace,
        pod,
        container: service_name,
        node: `node-${p}`,
      });
    }
    for (const name of ["spec_replicas", "status_replicas_available", "status_replicas_updated"]) {
      add({ __name__: `kube_deployment_${name}`, namespace, deployment: service_name, job: "kube-state-metrics" });
    }
    for (let span = 0; span < 8; span++) {
      for (const status_code of ["STATUS_CODE_UNSET", "STATUS_CODE_ERROR"]) {
        const labels = { namespace, service_name, span_name: `op-${span}`, span_kind: "SPAN_KIND_SERVER", status_code };
        add({ __name__: "traces_span_metrics_calls_total", ...labels });
        for (const le of ["2", "6", "10", "50", "100", "250", "500", "1000", "5000", "+Inf"]) {
          add({ __name__: "traces_span_metrics_duration_milliseconds_bucket", ...labels, le });
        }
      }
    }
  }
  return list;
}

/**
 * The package's own rules, and golden signals of each service, up to 130. Together they read about 8,000 windows a
 * round: every series of the store once.
 */
function makeRules() {
  const own = kubernetesRules();
  const rules = [];
  const calls = "traces_span_metrics_calls_total";
  const buckets = "traces_span_metrics_duration_milliseconds_bucket";
  let count = own.reduce((sum, group) => sum + group.rules.length, 0);
  for (let i = 0; count < 130; i++, count++) {
    const filter = `namespace="otel-demo",service_name=~"service-${i % 25}|other"`;
    const errors = `${calls}{${filter},status_code="STATUS_CODE_ERROR"}`;
    const kinds = [
      `sum by (service_name, namespace) (rate(${errors}[2m])) > 1e9`,
      `histogram_quantile(0.95, sum by (le, service_name) (rate(${buckets}{${filter}}[2m]))) > 1e9`,
      `sum(rate(${errors}[5m])) by (service_name) / on (service_name) sum(rate(${calls}{${filter}}[5m])) by (service_name) > 2`,
      `absent_metric_${i}{namespace="otel-demo"} > 0 and on (pod) kube_pod_status_phase > 5`,
    ];
    const everything = `sum by (service_name) (rate(${calls}{status_code="STATUS_CODE_ERROR"}[5m])) / on (service_name) sum by (service_name) (rate(${calls}[5m])) > 2`;
    rules.push({ alert: `Bench${i}`, expr: i % 16 === 15 ? everything : kinds[i % 4], for: "3m" });
  }
  return [...own, ...loadRules([{ groups: [{ name: "bench", rules }] }])];
}

function once() {
  const clock = new VirtualClock(START);
  const store = createMetricStore();
  const series = makeSeries(store);
  let scrapeMs = 0;
  let tick = 0;
  startScraper(clock, store, [
    {
      name: "bench",
      collect(emit) {
        tick++;
        for (let i = 0; i < series.length; i++) emit(series[i], tick * (1 + (i % 7)));
      },
    },
  ]);
  const engine = createRuleEngine({ clock, store, groups: makeRules(), intervalMs: 1e12 });
  let rulesMs = 0;
  for (let i = 0; i < TICKS; i++) {
    let start = performance.now();
    clock.advance(STEP);
    scrapeMs += performance.now() - start;
    start = performance.now();
    engine.evaluate();
    rulesMs += performance.now() - start;
  }
  const bad = engine.groups().flatMap((group) => group.rules.filter((rule) => rule.health !== "ok"));
  if (bad.length > 0) throw new Error(`${bad[0].rule.name}: ${bad[0].lastError}`);
  const start = performance.now();
  prepare(store, "sum by (service_name) (rate(traces_span_metrics_calls_total[5m]))").range(START, clock.now(), 15_000);
  return { series: series.length, scrapeMs, rulesMs, rangeMs: performance.now() - start, engine };
}

const rounds = Number(process.argv[2] ?? 3);
for (let i = 0; i < rounds; i++) {
  const { series, scrapeMs, rulesMs, rangeMs, engine } = once();
  const rules = engine.groups().reduce((sum, group) => sum + group.rules.length, 0);
  console.log(
    `promql ${i === 0 ? "(cold)" : "(warm)"}: ${rules} rules x ${TICKS} over ${series} series: ${rulesMs.toFixed(0)} ms; ` +
      `scrapes ${scrapeMs.toFixed(0)} ms; one range query of 181 steps ${rangeMs.toFixed(0)} ms`,
  );
}
