/** Spans in OpenTelemetry's terms; the Jaeger face turns them into its own. */

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  /** `service.name` */
  service: string;
  name: string;
  kind: "client" | "server" | "producer" | "consumer" | "internal";
  /** Microseconds since the epoch. */
  startUs: number;
  durationUs: number;
  status: "unset" | "ok" | "error";
  statusMessage?: string;
  attributes: Record<string, string | number | boolean>;
  /** Resource attributes beside service.name: k8s.pod.name, k8s.namespace.name, ... */
  resource: Record<string, string>;
  events?: { timeUs: number; name: string; attributes: Record<string, string | number | boolean> }[];
}

export interface TraceQuery {
  service?: string;
  operation?: string;
  /** Attribute (or `error=true`) equality. */
  tags?: Record<string, string>;
  startUs?: number;
  endUs?: number;
  minDurationUs?: number;
  maxDurationUs?: number;
  /** Newest traces first; default 20. */
  limit?: number;
}

export interface TraceStore {
  /** Adds spans of one trace; may be called again for the same trace. */
  add(spans: readonly Span[]): void;
  get(traceId: string): readonly Span[] | undefined;
  find(query: TraceQuery): readonly (readonly Span[])[];
  services(): string[];
  operations(service: string, kind?: string): { name: string; kind: string }[];
  /** Calls between services seen in [startUs, endUs]. */
  dependencies(startUs: number, endUs: number): { parent: string; child: string; callCount: number }[];
}
