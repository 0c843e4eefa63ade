/** Log lines, as a collector would have shipped them to Loki; `kubectl logs` reads the same lines. */

export interface LogEntry {
  /** Milliseconds since the epoch; lines of one stream are in order. */
  timeMs: number;
  line: string;
  severity?: "DEBUG" | "INFO" | "WARN" | "ERROR" | "FATAL";
  traceId?: string;
  spanId?: string;
}

/** Stream labels as Loki indexes them: namespace, pod, container, app, service_name, node_name, ... */
export type StreamLabels = Readonly<Record<string, string>>;

export interface LogStore {
  append(labels: StreamLabels, entry: LogEntry): void;
  /** The streams and their entries (oldest first), for the query engine. */
  streams(): readonly { labels: StreamLabels; entries: readonly LogEntry[] }[];
}
