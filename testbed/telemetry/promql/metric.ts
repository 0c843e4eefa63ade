/** A label set as the evaluator carries it: identity by object, so that what is derived from it is computed once. */
import { labelKey } from "../metric-store.js";
import type { Labels } from "../metrics.js";

const METADATA = ["__name__", "__type__", "__unit__"];

/** The labels of one sample. Whether the name goes is only noted, until the end: `label_replace` may still want it. */
export class Metric {
  #key: string | undefined;
  #withoutName: Metric | undefined;
  #marked: Metric | undefined;

  constructor(
    readonly labels: Labels,
    readonly dropName = false,
  ) {}

  /** Identity of the labels, the name included even where it is to be dropped. */
  get key(): string {
    this.#key ??= labelKey(this.labels);
    return this.#key;
  }

  /** The same, its name to be dropped at the end. */
  get dropped(): Metric {
    if (this.dropName) return this;
    this.#marked ??= new Metric(this.labels, true);
    return this.#marked;
  }

  /** As the result shows it: the name gone where it is to go. */
  get final(): Metric {
    return this.dropName ? this.stripped : this;
  }

  /** Without name, type and unit. */
  get stripped(): Metric {
    if (this.#withoutName === undefined) {
      const hasAny = METADATA.some((name) => this.labels[name] !== undefined);
      this.#withoutName = hasAny ? new Metric(withoutLabels(this.labels, METADATA)) : new Metric(this.labels);
    }
    return this.#withoutName;
  }

  get name(): string {
    return this.labels.__name__ ?? "";
  }
}

export const EMPTY_LABELS: Labels = Object.freeze({});

export function withoutLabels(labels: Labels, names: readonly string[]): Labels {
  const kept: Record<string, string> = {};
  for (const name in labels) if (!names.includes(name)) kept[name] = labels[name]!;
  return kept;
}

export function onlyLabels(labels: Labels, names: readonly string[]): Labels {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = labels[name];
    if (value !== undefined && value !== "") kept[name] = value;
  }
  return kept;
}

/** Writes labels as Prometheus does: `name{a="b"}`, `{a="b"}`. */
export function formatLabels(labels: Labels): string {
  const parts = Object.keys(labels)
    .filter((name) => name !== "__name__")
    .sort()
    .map((name) => `${name}=${JSON.stringify(labels[name])}`);
  return `${labels.__name__ ?? ""}{${parts.join(", ")}}`;
}
