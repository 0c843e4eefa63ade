/** Counters that programs keep themselves: one for each operation that has one, of the requests that went well. */
import type { Exporter, MetricStore, Series } from "../telemetry/metrics.js";
import type { Program } from "./behaviour.js";
import type { CompiledProgram } from "./compile.js";

/** Reads what the operations' server spans have counted already. */
export function createCounters(
  compiled: ReadonlyMap<Program, CompiledProgram>,
  serviceNamespace: string,
  store: MetricStore,
): Exporter {
  const counted = [...compiled.values()].flatMap(({ operations }) =>
    [...operations.values()].filter(({ def, span }) => def.counter !== undefined && span !== undefined),
  );
  const handles = new Map<object, Series>();
  return {
    name: "application counters",
    collect(emit) {
      for (const { def, span } of counted) {
        const metric = span!.metric;
        const calls = metric?.cells[0]?.calls;
        if (metric === undefined || calls === undefined) continue;
        let series = handles.get(metric);
        if (series === undefined) {
          series = store.series({
            __name__: def.counter!,
            job: `${serviceNamespace}/${metric.service}`,
            namespace: metric.namespace,
            service_name: metric.service,
            service_namespace: serviceNamespace,
          });
          handles.set(metric, series);
        }
        emit(series, calls);
      }
    },
  };
}
