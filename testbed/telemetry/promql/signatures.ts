/** What PromQL's functions and aggregations take and return. Their bodies stand in `functions/`. */
import type { ValueType } from "./ast.js";

export interface Signature {
  args: readonly ValueType[];
  /** Trailing arguments that may be left out; "any" lets the last one repeat. */
  optional?: number | "any";
  returns: ValueType;
  /** Only with the `experimental` option, as in Prometheus. */
  experimental?: true;
}

const VECTOR_TO_VECTOR: Signature = { args: ["vector"], returns: "vector" };
const MATRIX_TO_VECTOR: Signature = { args: ["matrix"], returns: "vector" };
const SCALAR: Signature = { args: [], returns: "scalar" };
/** The current time stands in for a missing argument. */
const DATE: Signature = { args: ["vector"], optional: 1, returns: "vector" };

function table(names: string, signature: Signature): [string, Signature][] {
  return names.split(" ").map((name) => [name, signature]);
}

export const FUNCTIONS: ReadonlyMap<string, Signature> = new Map([
  ...table(
    "abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor histogram_avg histogram_count " +
      "histogram_stddev histogram_stdvar histogram_sum ln log10 log2 rad sgn sin sinh sort sort_desc sqrt tan tanh timestamp",
    VECTOR_TO_VECTOR,
  ),
  ...table("day_of_month day_of_week day_of_year days_in_month hour minute month year", DATE),
  ...table(
    "absent_over_time avg_over_time changes count_over_time delta deriv idelta increase irate " +
      "last_over_time max_over_time min_over_time present_over_time rate resets stddev_over_time stdvar_over_time " +
      "sum_over_time",
    MATRIX_TO_VECTOR,
  ),
  ...table(
    "first_over_time mad_over_time ts_of_first_over_time ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time",
    { ...MATRIX_TO_VECTOR, experimental: true },
  ),
  ...table("pi time", SCALAR),
  ...table("start end step range", { ...SCALAR, experimental: true }),
  ...table("max_of min_of", { args: ["scalar", "scalar"], returns: "scalar", experimental: true }),
  ["start_timestamp", { ...VECTOR_TO_VECTOR, experimental: true }],
  ["clamp", { args: ["vector", "scalar", "scalar"], returns: "vector" }],
  ["clamp_max", { args: ["vector", "scalar"], returns: "vector" }],
  ["clamp_min", { args: ["vector", "scalar"], returns: "vector" }],
  ["double_exponential_smoothing", { args: ["matrix", "scalar", "scalar"], returns: "vector", experimental: true }],
  ["histogram_fraction", { args: ["scalar", "scalar", "vector"], returns: "vector" }],
  ["histogram_quantile", { args: ["scalar", "vector"], returns: "vector" }],
  [
    "histogram_quantiles",
    { args: ["vector", "string", "scalar", "scalar"], optional: "any", returns: "vector", experimental: true },
  ],
  ["info", { args: ["vector", "vector"], optional: 1, returns: "vector", experimental: true }],
  ["label_join", { args: ["vector", "string", "string", "string"], optional: "any", returns: "vector" }],
  ["label_replace", { args: ["vector", "string", "string", "string", "string"], returns: "vector" }],
  ["predict_linear", { args: ["matrix", "scalar"], returns: "vector" }],
  ["quantile_over_time", { args: ["scalar", "matrix"], returns: "vector" }],
  ["round", { args: ["vector", "scalar"], optional: 1, returns: "vector" }],
  ["scalar", { args: ["vector"], returns: "scalar" }],
  ...table("sort_by_label sort_by_label_desc", {
    args: ["vector", "string"],
    optional: "any",
    returns: "vector",
    experimental: true,
  }),
  ["vector", { args: ["scalar"], returns: "vector" }],
]);

export interface AggregationSignature {
  parameter?: "scalar" | "string";
  experimental?: true;
}

export const AGGREGATIONS: ReadonlyMap<string, AggregationSignature> = new Map<string, AggregationSignature>([
  ...["avg", "count", "group", "max", "min", "stddev", "stdvar", "sum"].map((name): [string, AggregationSignature] => [
    name,
    {},
  ]),
  ["bottomk", { parameter: "scalar" }],
  ["topk", { parameter: "scalar" }],
  ["quantile", { parameter: "scalar" }],
  ["count_values", { parameter: "string" }],
  ["limitk", { parameter: "scalar", experimental: true }],
  ["limit_ratio", { parameter: "scalar", experimental: true }],
]);
