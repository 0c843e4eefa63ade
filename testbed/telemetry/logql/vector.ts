/** Values of metric expressions: series with one optional point a step. */
import type { Grouping } from "./ast.js";

/** Evaluation times: `count` of them from `startMs`, `stepMs` apart. An instant query has one. */
export interface Steps {
  startMs: number;
  stepMs: number;
  count: number;
}

export interface VectorSeries {
  labels: Record<string, string>;
  /** Indexed by step; undefined where the series has no point. */
  points: (number | undefined)[];
}

export type Value = { type: "scalar"; value: number } | { type: "vector"; series: VectorSeries[] };

/** The labels that a grouping leaves, by name. */
export function groupLabels(labels: Readonly<Record<string, string>>, grouping: Grouping): Record<string, string> {
  const kept: Record<string, string> = {};
  if (grouping.without) {
    for (const name of Object.keys(labels)) if (!grouping.labels.includes(name)) kept[name] = labels[name]!;
  } else {
    for (const name of [...grouping.labels].sort()) if (labels[name] !== undefined) kept[name] = labels[name];
  }
  return kept;
}
