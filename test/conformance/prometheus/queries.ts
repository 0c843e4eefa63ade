/**
 * Data and queries to ask a real Prometheus: samples with gaps, resets, stale marks and odd numbers, and queries drawn
 * from PromQL's grammar with a fixed seed. Left out is what depends on more than the language: which of equals `topk`
 * picks, dates of NaN (the processor's conversion decides), remainders of numbers whose last digits are noise.
 */
import { Random } from "../../../testbed/random.js";

export interface RecordedQuery {
  query: string;
  /** Milliseconds; data starts at 0. */
  start: number;
  end: number;
  /** 0: instant. */
  step: number;
}

const MINUTES = 40;

/** A `load` script of promqltest: one sample each 30 s. */
export function loadScript(): string {
  const random = new Random("promql data");
  const lines = ["load 30s"];
  const points = MINUTES * 2 + 1;
  const row = (labels: string, next: (i: number) => string) =>
    lines.push(`  ${labels} ${Array.from({ length: points }, (_, i) => next(i)).join(" ")}`);
  const gap = () => random.next() < 0.04;

  for (const service of ["cart", "checkout", "frontend"]) {
    for (const pod of ["0", "1"]) {
      for (const code of ["200", "500"]) {
        let total = random.int(50);
        row(`requests_total{service="${service}", pod="${service}-${pod}", code="${code}"}`, () => {
          total = random.next() < 0.03 ? random.int(3) : total + random.poisson(code === "200" ? 12 : 0.4);
          return gap() ? "_" : String(total);
        });
      }
      const counts = [0, 0, 0, 0, 0];
      const bounds = ["0.1", "0.5", "1", "5", "+Inf"];
      const rows: string[][] = bounds.map(() => []);
      for (let i = 0; i < points; i++) {
        const reset = random.next() < 0.02;
        let below = 0;
        for (const b of bounds.keys()) {
          below += random.poisson(2);
          counts[b] = (reset ? 0 : counts[b]!) + below;
          rows[b]!.push(String(counts[b]));
        }
      }
      for (const [b, bound] of bounds.entries()) {
        row(`latency_bucket{service="${service}", pod="${service}-${pod}", le="${bound}"}`, (i) => rows[b]![i]!);
      }
      let memory = random.int(1000);
      row(`memory_bytes{service="${service}", pod="${service}-${pod}"}`, (i) => {
        if (service === "cart" && pod === "1" && i === 30) return "stale";
        if (service === "cart" && pod === "1" && i > 30 && i < 50) return "_";
        memory = Math.max(0, memory + random.normal() * 40);
        return gap() ? "_" : memory.toFixed(3);
      });
      row(`up{job="${service}", pod="${service}-${pod}"}`, () => (random.next() < 0.1 ? "0" : "1"));
    }
    row(`limits{service="${service}"}`, () => String(1000 + random.int(3) * 500));
  }
  row('odd{kind="signs"}', (i) => String((i % 7) - 3));
  row('odd{kind="special"}', (i) => ["NaN", "Inf", "-Inf", "0", "1e300", "-1e-300"][i % 6]!);
  row('odd{kind="rare"}', (i) => (i % 9 === 0 ? String(i) : "_"));
  row('info{pod="cart-0", version="v1.10"}', () => "1");
  row('info{pod="cart-1", version="v1.9"}', () => "1");
  return `${lines.join("\n")}\n`;
}

/** `count` queries of all sorts, some of which are errors. */
export function queries(count: number): RecordedQuery[] {
  const random = new Random("promql queries");
  const list: RecordedQuery[] = [];
  for (let i = 0; i < count; i++) {
    const query = vector(random, 3);
    const start = random.int(MINUTES * 60) * 1000;
    if (random.next() < 0.7) list.push({ query, start, end: start, step: 0 });
    else {
      const step = random.pick([15_000, 30_000, 47_000, 120_000]);
      list.push({ query, start, end: start + step * (1 + random.int(6)), step });
    }
  }
  return list;
}

const SELECTORS = [
  "requests_total",
  'requests_total{code="500"}',
  'requests_total{service=~"cart|check.*", code!="200"}',
  'requests_total{pod!~".*-0"}',
  "memory_bytes",
  'memory_bytes{service="cart"}',
  "up",
  "up == 0",
  "limits",
  "odd",
  'odd{kind="signs"}',
  "latency_bucket",
  'latency_bucket{service="frontend"}',
  '{__name__=~"up|limits"}',
  "info",
  "nothing",
  'nothing{service="x"}',
];
const DURATIONS = ["45s", "1m", "2m", "5m", "13m", "1h"];
const LABELS = ["service", "pod", "code", "le", "kind", "job", "absent"];

function selector(random: Random): string {
  let text = random.pick(SELECTORS.filter((one) => !one.includes(" == ")));
  if (random.next() < 0.15) text += ` offset ${random.pick(["30s", "5m", "-1m"])}`;
  if (random.next() < 0.08) text += ` @ ${random.pick(["600", "start()", "end()", "1200.5"])}`;
  return text;
}

function range(random: Random, depth: number): string {
  if (depth > 0 && random.next() < 0.2) {
    return `(${vector(random, depth - 1)})[${random.pick(["5m", "10m", "3m"])}:${random.pick(["30s", "1m", "", "50s"])}]`;
  }
  const text = random.pick(SELECTORS.filter((one) => !one.includes(" == ")));
  const offset = random.next() < 0.15 ? ` offset ${random.pick(["1m", "4m30s"])}` : "";
  return `${text}[${random.pick(DURATIONS)}]${offset}`;
}

function grouping(random: Random): string {
  const labels = LABELS.filter(() => random.next() < 0.3).join(", ");
  return random.pick(["", ` by (${labels})`, ` without (${labels})`]);
}

function scalar(random: Random): string {
  return random.pick([
    "0",
    "1",
    "0.5",
    "-2",
    "3",
    "1e3",
    "NaN",
    "Inf",
    "time()",
    "scalar(limits{service='cart'})",
    "pi()",
    "(2 ^ 3 % 5)",
  ]);
}

const RANGE = [
  "rate",
  "increase",
  "irate",
  "delta",
  "idelta",
  "deriv",
  "changes",
  "resets",
  "avg_over_time",
  "sum_over_time",
  "min_over_time",
  "max_over_time",
  "count_over_time",
  "last_over_time",
  "first_over_time",
  "present_over_time",
  "stddev_over_time",
  "stdvar_over_time",
  "absent_over_time",
];
const PLAIN = [
  "abs",
  "ceil",
  "floor",
  "ln",
  "log2",
  "log10",
  "sqrt",
  "sgn",
  "sort",
  "sort_desc",
  "timestamp",
  "absent",
  "sin",
  "atan",
  "deg",
  "histogram_count",
];

/** A random instant vector. */
function vector(random: Random, depth: number): string {
  if (depth === 0) return selector(random);
  const inner = () => vector(random, depth - 1);
  switch (random.int(14)) {
    case 0:
      return selector(random);
    case 1:
    case 2:
      return `${random.pick(RANGE)}(${range(random, depth)})`;
    case 3:
      return `${random.pick(PLAIN)}(${inner()})`;
    case 4:
    case 5:
      return `${random.pick(["sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"])}${grouping(random)} (${inner()})`;
    case 6:
      return random.pick([
        `topk${grouping(random)} (${random.pick(["1", "2", "0"])}, memory_bytes)`,
        `bottomk${grouping(random)} (2, deriv(memory_bytes[10m]))`,
        `quantile${grouping(random)} (${random.pick(["0.5", "0.9", "0", "1", "-1"])}, ${inner()})`,
        `count_values${grouping(random)} ("v", ${selector(random)})`,
      ]);
    case 7:
      return `${inner()} ${random.pick(["+", "-", "*", "/", "^", "atan2"])} ${scalar(random)}`;
    case 8:
      return `${scalar(random)} ${random.pick(["+", "/", "<", ">= bool", "!="])} ${inner()}`;
    case 9:
      return `${inner()} ${random.pick([">", "<=", "== bool", "!=", "> bool"])} ${scalar(random)}`;
    case 10: {
      const op = random.pick(["+", "-", "*", "/", ">", "== bool"]);
      const match = random.pick([
        "",
        "on (service) ",
        "on (pod) ",
        "ignoring (code) ",
        "on (service) group_left ",
        "on (pod, service) group_left () ",
        "on () ",
        "ignoring (code, pod, le) group_right ",
      ]);
      return `(${inner()}) ${op} ${match}(${inner()})`;
    }
    case 11:
      return `(${inner()}) ${random.pick(["and", "or", "unless"])} ${random.pick(["", "on (service) ", "on (pod) ", "ignoring (code) ", "on () "])}(${inner()})`;
    case 12:
      return random.pick([
        `histogram_quantile(${random.pick(["0.5", "0.95", "0", "1", "2"])}, sum by (le, service) (rate(latency_bucket[${random.pick(DURATIONS)}])))`,
        `histogram_quantile(0.9, latency_bucket)`,
        `histogram_fraction(0.2, 3, latency_bucket)`,
        `predict_linear(${range(random, depth)}, 600)`,
        `quantile_over_time(0.7, ${range(random, depth)})`,
        `double_exponential_smoothing(${range(random, depth)}, 0.3, 0.6)`,
        `vector(${scalar(random)})`,
        `round(${inner()}, 0.25)`,
        `clamp(${inner()}, -1, 100)`,
        `clamp_max(${inner()}, 10)`,
      ]);
    default:
      return random.pick([
        `label_replace(${inner()}, "short", "$1", "pod", "(.*)-.*")`,
        `label_replace(${inner()}, "service", "x-$1", "service", "c(.+)")`,
        `label_join(${inner()}, "both", "/", "service", "pod")`,
        `-(${inner()})`,
        `${selector(random)} % ${scalar(random)}`,
        `${random.pick(["hour", "minute", "day_of_week", "day_of_year", "month", "days_in_month"])}(vector(time() * ${random.pick(["1", "1e4", "-3e3"])}))`,
        `${inner()} * on (pod) group_left (version) info`,
        `sum by (version) (${inner()} * on (pod) group_left (version) info)`,
      ]);
  }
}
