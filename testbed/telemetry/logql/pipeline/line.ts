/** One log line on its way through a pipeline: its text, and its labels by where they came from. */
import type { LogEntry, StreamLabels } from "../../logs.js";
import { compileRe2, type Re2 } from "../../re2.js";
import { detectLevel } from "./level.js";

export const ERROR_LABEL = "__error__";
export const ERROR_DETAILS_LABEL = "__error_details__";

/** A stage: changes the line, says whether it is kept. */
export type LineStage = (line: LineContext) => boolean;

/**
 * Labels come from the stream, from the entry's own fields (Loki's structured metadata: `detected_level`, `trace_id`,
 * `span_id`), and from parsers. One context serves many lines: `reset` starts the next.
 */
export class LineContext {
  text = "";
  timeMs = 0;
  #stream: StreamLabels = {};
  #metadata: Record<string, string> = {};
  /** Labels that stages set; undefined for those that they dropped. */
  #changes = new Map<string, string | undefined>();
  #patterns = new Map<string, Re2>();

  /** A pattern that a template names, compiled once a query. */
  pattern(source: string): Re2 {
    let compiled = this.#patterns.get(source);
    if (compiled === undefined) {
      if (this.#patterns.size > 100) this.#patterns.clear();
      compiled = compileRe2(source);
      this.#patterns.set(source, compiled);
    }
    return compiled;
  }

  reset(stream: StreamLabels, entry: LogEntry): void {
    this.#stream = stream;
    this.text = entry.line;
    this.timeMs = entry.timeMs;
    this.#metadata = metadataOf(entry);
    if (this.#changes.size > 0) this.#changes.clear();
  }

  /** True while no stage has touched the labels. */
  get unchanged(): boolean {
    return this.#changes.size === 0;
  }

  get(name: string): string | undefined {
    if (this.#changes.has(name)) return this.#changes.get(name);
    return this.#metadata[name] ?? this.#stream[name];
  }

  set(name: string, value: string): void {
    this.#changes.set(name, value);
  }

  delete(name: string): void {
    this.#changes.set(name, undefined);
  }

  /** Sets a label that a parser found; one that the stream has already gets the suffix `_extracted`. */
  extract(name: string, value: string): void {
    const taken = this.#stream[name] !== undefined || this.#metadata[name] !== undefined;
    this.#changes.set(taken ? `${name}_extracted` : name, value);
  }

  get error(): string | undefined {
    return this.#changes.get(ERROR_LABEL);
  }

  fail(kind: string, details: string): void {
    this.#changes.set(ERROR_LABEL, kind);
    this.#changes.set(ERROR_DETAILS_LABEL, details);
  }

  /** All labels, in order of name. */
  labels(): Record<string, string> {
    const merged: Record<string, string> = { ...this.#stream, ...this.#metadata };
    for (const [name, value] of this.#changes) {
      if (value === undefined || value === "") delete merged[name];
      else merged[name] = value;
    }
    const sorted: Record<string, string> = {};
    for (const name of Object.keys(merged).sort()) sorted[name] = merged[name]!;
    return sorted;
  }

  /** The labels by where they came from, for Loki's `categorize-labels` encoding. */
  categories(): {
    stream: Record<string, string>;
    structuredMetadata: Record<string, string>;
    parsed: Record<string, string>;
  } {
    const stream: Record<string, string> = {};
    const structuredMetadata: Record<string, string> = {};
    const parsed: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.labels())) {
      if (this.#changes.has(name)) parsed[name] = value;
      else if (this.#metadata[name] !== undefined) structuredMetadata[name] = value;
      else stream[name] = value;
    }
    return { stream, structuredMetadata, parsed };
  }
}

const LEVEL_ONLY: Readonly<Record<string, Record<string, string>>> = Object.fromEntries(
  ["debug", "info", "warn", "error", "fatal", "critical", "trace", "unknown"].map((level) => [
    level,
    Object.freeze({ detected_level: level }),
  ]),
);

/** What Loki would hold as structured metadata of the entry. */
export function metadataOf(entry: LogEntry): Record<string, string> {
  const level = LEVEL_ONLY[levelOf(entry)]!;
  if (entry.traceId === undefined && entry.spanId === undefined) return level;
  const metadata = { ...level };
  if (entry.traceId !== undefined) metadata.trace_id = entry.traceId;
  if (entry.spanId !== undefined) metadata.span_id = entry.spanId;
  return metadata;
}

/** The level that the entry says, or that its text shows. */
export function levelOf(entry: LogEntry): string {
  return entry.severity === undefined ? detectLevel(entry.line) : entry.severity.toLowerCase();
}
