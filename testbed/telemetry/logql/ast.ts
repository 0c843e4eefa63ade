/** LogQL's syntax tree: plain data. */

export interface StreamMatcher {
  name: string;
  op: "=" | "!=" | "=~" | "!~";
  value: string;
}

/** `{selector} | stage | stage` */
export interface LogExpr {
  type: "log";
  matchers: StreamMatcher[];
  stages: Stage[];
}

export type Stage =
  | { type: "lineFilter"; op: LineFilterOp; alternatives: LineFilterOperand[] }
  | { type: "json" | "logfmt"; strict: boolean; keepEmpty: boolean; extractions: { label: string; path: string }[] }
  | { type: "regexp"; pattern: string }
  | { type: "pattern"; pattern: string }
  | { type: "unpack" }
  | { type: "labelFilter"; filter: LabelFilter }
  | { type: "lineFormat"; template: string }
  | { type: "labelFormat"; assignments: LabelAssignment[] }
  | { type: "drop" | "keep"; items: { name: string; matcher?: StreamMatcher }[] }
  | { type: "decolorize" };

export type LineFilterOp = "|=" | "!=" | "|~" | "!~" | "|>" | "!>";
/** `ip` operands match an address or range found anywhere in the line. */
export interface LineFilterOperand {
  value: string;
  ip: boolean;
}

export type LabelAssignment = { label: string; from: string } | { label: string; template: string };

export type NumberOp = "==" | "!=" | ">" | ">=" | "<" | "<=";

export type LabelFilter =
  | { type: "string"; matcher: StreamMatcher }
  | { type: "ip"; label: string; negated: boolean; range: string }
  /** Durations are compared in seconds, bytes in bytes. */
  | { type: "number"; label: string; op: NumberOp; value: number; unit: "number" | "duration" | "bytes" }
  | { type: "and" | "or"; left: LabelFilter; right: LabelFilter };

export interface Unwrap {
  label: string;
  conversion?: "duration" | "duration_seconds" | "bytes";
  filters: LabelFilter[];
}

export interface Grouping {
  without: boolean;
  labels: string[];
}

export type RangeOp =
  | "rate"
  | "rate_counter"
  | "count_over_time"
  | "bytes_rate"
  | "bytes_over_time"
  | "absent_over_time"
  | "sum_over_time"
  | "avg_over_time"
  | "min_over_time"
  | "max_over_time"
  | "stddev_over_time"
  | "stdvar_over_time"
  | "quantile_over_time"
  | "first_over_time"
  | "last_over_time";

export type VectorOp =
  | "sum"
  | "avg"
  | "min"
  | "max"
  | "count"
  | "stddev"
  | "stdvar"
  | "topk"
  | "bottomk"
  | "approx_topk"
  | "sort"
  | "sort_desc";

export type BinaryOp =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "^"
  | "=="
  | "!="
  | ">"
  | ">="
  | "<"
  | "<="
  | "and"
  | "or"
  | "unless";

export interface VectorMatching {
  on: boolean;
  labels: string[];
  group?: "left" | "right";
  include: string[];
}

export interface RangeAggregation {
  type: "range";
  op: RangeOp;
  parameter?: number;
  log: LogExpr;
  unwrap?: Unwrap;
  rangeMs: number;
  offsetMs: number;
  grouping?: Grouping;
}

export interface VectorAggregation {
  type: "aggregate";
  op: VectorOp;
  parameter?: number;
  grouping?: Grouping;
  expr: MetricExpr;
}

export interface BinaryExpr {
  type: "binary";
  op: BinaryOp;
  bool: boolean;
  matching?: VectorMatching;
  left: MetricExpr;
  right: MetricExpr;
}

export type MetricExpr =
  | RangeAggregation
  | VectorAggregation
  | BinaryExpr
  | { type: "number"; value: number }
  | { type: "vector"; value: number }
  | { type: "labelReplace"; expr: MetricExpr; dst: string; replacement: string; src: string; pattern: string };

export type Expr = LogExpr | MetricExpr;
