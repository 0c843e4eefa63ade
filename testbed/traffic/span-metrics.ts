/**
 * Span metrics, as the collector's spanmetrics connector makes them of spans and Prometheus stores them. As there, a
 * series stays at its last value when its service goes: so a rate falls to 0 instead of vanishing.
 */
import type { Exporter, MetricStore, Series } from "../telemetry/metrics.js";
import type { Process } from "./processes.js";

/** The connector's own bucket bounds, milliseconds. */
export const BOUNDS = [2, 4, 6, 8, 10, 50, 100, 200, 400, 800, 1000, 1400, 2000, 5000, 10_000, 15_000] as const;

export type SpanKind = "client" | "server" | "producer" | "consumer" | "internal";

/** Counts of one (service, span, kind, status). */
interface Cell {
  calls: number;
  sumMs: number;
  /** Spans in each bucket, not cumulated; the last is +Inf. */
  readonly buckets: Float64Array;
  series?: { calls: Series; sum: Series; count: Series; buckets: Series[] };
}

/** The counters of one span name of one service, in both statuses. */
export interface SpanMetric {
  readonly service: string;
  readonly span: string;
  readonly kind: SpanKind;
  readonly namespace: string;
  readonly workload: string;
  readonly cells: [Cell | undefined, Cell | undefined];
}

export interface SpanMetrics {
  /** Counters for spans that `process` writes under this name; made when they are new. */
  metric(process: Process, span: string, kind: SpanKind): SpanMetric;
  /** Counts `weight` spans that took `durationMs`. */
  record(metric: SpanMetric, failed: boolean, durationMs: number, weight: number): void;
  readonly exporter: Exporter;
}

export function createSpanMetrics(store: MetricStore, serviceNamespace: string): SpanMetrics {
  const metrics = new Map<string, SpanMetric>();
  const cells: { metric: SpanMetric; cell: Cell; status: string }[] = [];

  function seriesOf(metric: SpanMetric, status: string): NonNullable<Cell["series"]> {
    const labels = {
      job: `${serviceNamespace}/${metric.service}`,
      namespace: metric.namespace,
      service_name: metric.service,
      service_namespace: serviceNamespace,
      span_name: metric.span,
      span_kind: `SPAN_KIND_${metric.kind.toUpperCase()}`,
      status_code: status,
      k8s_namespace_name: metric.namespace,
      k8s_deployment_name: metric.workload,
    };
    const named = (name: string, more: Record<string, string> = {}) =>
      store.series({ __name__: name, ...labels, ...more });
    const duration = "traces_span_metrics_duration_milliseconds";
    return {
      calls: named("traces_span_metrics_calls_total"),
      sum: named(`${duration}_sum`),
      count: named(`${duration}_count`),
      buckets: [...BOUNDS.map(String), "+Inf"].map((le) => named(`${duration}_bucket`, { le })),
    };
  }

  return {
    metric(process, span, kind) {
      const key = `${process.namespace} ${process.service} ${kind} ${span}`;
      let metric = metrics.get(key);
      if (metric === undefined) {
        metric = {
          service: process.service,
          span,
          kind,
          namespace: process.namespace,
          workload: process.resource["k8s.deployment.name"] ?? process.service,
          cells: [undefined, undefined],
        };
        metrics.set(key, metric);
      }
      return metric;
    },
    record(metric, failed, durationMs, weight) {
      const index = failed ? 1 : 0;
      let cell = metric.cells[index];
      if (cell === undefined) {
        cell = { calls: 0, sumMs: 0, buckets: new Float64Array(BOUNDS.length + 1) };
        metric.cells[index] = cell;
        cells.push({ metric, cell, status: failed ? "STATUS_CODE_ERROR" : "STATUS_CODE_UNSET" });
      }
      let bucket = 0;
      while (bucket < BOUNDS.length && durationMs > BOUNDS[bucket]!) bucket++;
      cell.calls += weight;
      cell.sumMs += durationMs * weight;
      cell.buckets[bucket]! += weight;
    },
    exporter: {
      name: "span-metrics",
      collect(emit) {
        for (const { metric, cell, status } of cells) {
          cell.series ??= seriesOf(metric, status);
          const { series } = cell;
          emit(series.calls, cell.calls);
          emit(series.sum, cell.sumMs);
          emit(series.count, cell.calls);
          let total = 0;
          for (let i = 0; i < series.buckets.length; i++) {
            total += cell.buckets[i]!;
            emit(series.buckets[i]!, total);
          }
        }
      },
    },
  };
}
