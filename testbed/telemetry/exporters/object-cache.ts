/**
 * Samples that change only when an object does: kept as pairs of series and value, made anew when a watch event says
 * so. A scrape is then a loop over pairs.
 */
import type { KubeApi } from "../../kube/api.js";
import type { GroupResource, KubeObject } from "../../kube/objects.js";
import type { Labels, MetricStore, Series } from "../metrics.js";

/** Writes one sample of an object; labels with an empty value are left out, as Prometheus leaves them. */
export type Write = (metric: string, labels: Labels, value: number) => void;

/** The metrics of one kind of object. */
export interface KindMetrics {
  resource: GroupResource;
  samples(object: KubeObject, write: Write): void;
}

export interface ObjectCache {
  emitAll(emit: (series: Series, value: number) => void): void;
  /** Objects held. */
  readonly size: number;
  stop(): void;
}

interface Held {
  sample: KindMetrics["samples"];
  object: KubeObject;
  series: Series[];
  values: number[];
  dirty: boolean;
}

/**
 * Follows objects of the given kinds.
 * @param target labels of the scrape target (`job`, `instance`), added to every series
 */
export function createObjectCache(
  kube: KubeApi,
  store: MetricStore,
  kinds: readonly KindMetrics[],
  target: Labels,
): ObjectCache {
  const held = new Map<string, Held>();
  let order: Held[] | undefined;

  function put(kind: KindMetrics, object: KubeObject): void {
    const key = keyOf(kind, object);
    const known = held.get(key);
    if (known !== undefined) {
      known.object = object;
      known.dirty = true;
      return;
    }
    held.set(key, { sample: kind.samples, object, series: [], values: [], dirty: true });
    order = undefined;
  }

  function rebuild(entry: Held): void {
    entry.dirty = false;
    entry.series.length = 0;
    entry.values.length = 0;
    entry.sample(entry.object, (metric, labels, value) => {
      entry.series.push(store.series({ __name__: metric, ...target, ...labels }));
      entry.values.push(value);
    });
  }

  const stops = kinds.map((kind) =>
    kube.watch(kind.resource, (event) => {
      if (event.type !== "DELETED") put(kind, event.object);
      else if (held.delete(keyOf(kind, event.object))) order = undefined;
    }),
  );
  for (const kind of kinds) for (const object of kube.list(kind.resource)) put(kind, object);

  return {
    emitAll(emit) {
      order ??= [...held.values()];
      for (const entry of order) {
        if (entry.dirty) rebuild(entry);
        const { series, values } = entry;
        for (let i = 0; i < series.length; i++) emit(series[i]!, values[i]!);
      }
    },
    get size() {
      return held.size;
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/** An object of the same name that was made anew is another object. */
function keyOf(kind: KindMetrics, { metadata }: KubeObject): string {
  return `${kind.resource}/${metadata.uid ?? `${metadata.namespace}/${metadata.name}`}`;
}
