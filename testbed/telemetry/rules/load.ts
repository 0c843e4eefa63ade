/** Reads rules: PrometheusRule objects and plain Prometheus rule files. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { packageFile } from "../../../paths.js";
import { PromqlParseError, parse, parseDuration } from "../promql/index.js";
import { compileTemplate, TemplateError } from "./template.js";

export interface RecordingRule {
  kind: "recording";
  /** Name of the series that it writes. */
  name: string;
  expr: string;
  labels: Record<string, string>;
}

export interface AlertingRule {
  kind: "alerting";
  name: string;
  expr: string;
  /** How long the condition must hold before the alert fires, milliseconds. */
  forMs: number;
  /** How long it keeps firing after the condition ended, milliseconds. */
  keepFiringMs: number;
  /** Templates. */
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export type Rule = RecordingRule | AlertingRule;

export interface RuleGroup {
  name: string;
  /** Where it was read from: a file, or `namespace/name` of the PrometheusRule. */
  source: string;
  /** Milliseconds between evaluations; undefined: the engine's default. */
  intervalMs: number | undefined;
  /** How far in the past its rules are evaluated, milliseconds. Default: 0. */
  queryOffsetMs?: number;
  /** Most series or alerts that one of its rules may yield; more is an error of the rule. Default: any number. */
  limit?: number;
  rules: Rule[];
}

/** A rule that cannot be read; names source, group, rule and what is wrong. */
export class RuleError extends Error {
  override name = "RuleError";
}

export interface LoadOptions {
  /** For messages, and as the groups' `source` where the document has no name of its own. */
  source?: string;
  /** Durations that replace a rule's own `for`, by alert name: `{ KubePodNotReady: "5m" }`. */
  for?: Readonly<Record<string, string>>;
}

/** ITBench shortens these, so that a trial need not wait a quarter of an hour for the alert. */
export const ITBENCH_FOR: Readonly<Record<string, string>> = {
  KubeContainerWaiting: "5m",
  KubeDeploymentRolloutStuck: "5m",
  KubeHpaMaxedOut: "5m",
  KubePodCrashLooping: "5m",
  KubePodNotReady: "5m",
};

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const texts = z.record(text).nullish();
const ruleSchema = z
  .object({
    alert: z.string().min(1).optional(),
    record: z.string().min(1).optional(),
    expr: text,
    for: text.nullish(),
    keep_firing_for: text.nullish(),
    labels: texts,
    annotations: texts,
  })
  .strict();
const groupSchema = z
  .object({
    name: z.string().min(1),
    interval: text.nullish(),
    query_offset: text.nullish(),
    limit: z.number().int().nonnegative().nullish(),
    labels: texts,
    partial_response_strategy: z.string().nullish(),
    rules: z.array(ruleSchema).nullish(),
  })
  .strict();
const groupsSchema = z.object({ groups: z.array(groupSchema).nullish() });
const resourceSchema = z.object({
  kind: z.literal("PrometheusRule"),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }).passthrough(),
  spec: groupsSchema,
});

/** Groups of parsed documents; documents of other kinds are passed over. @throws RuleError */
export function loadRules(docs: readonly unknown[], options: LoadOptions = {}): RuleGroup[] {
  const groups: RuleGroup[] = [];
  for (const doc of docs) {
    if (doc === null || typeof doc !== "object") continue;
    const kind = (doc as { kind?: unknown }).kind;
    if (kind === "List" && Array.isArray((doc as { items?: unknown }).items)) {
      groups.push(...loadRules((doc as { items: unknown[] }).items, options));
      continue;
    }
    if (kind !== undefined && kind !== "PrometheusRule") continue;
    const parsed = kind === undefined ? groupsSchema.safeParse(doc) : resourceSchema.safeParse(doc);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new RuleError(`${options.source ?? "rules"}: ${issue!.path.join(".")}: ${issue!.message}`);
    }
    const { data } = parsed;
    const source =
      "metadata" in data
        ? `${data.metadata.namespace ?? "default"}/${data.metadata.name}`
        : (options.source ?? "rules");
    for (const group of ("spec" in data ? data.spec.groups : data.groups) ?? []) {
      if (groups.some((other) => other.name === group.name && other.source === source)) {
        throw new RuleError(`${source}: group "${group.name}" is there twice: give each its own name`);
      }
      groups.push(readGroup(group, source, options));
    }
  }
  return groups;
}

/** Groups of a YAML text, which may hold several documents. @throws RuleError */
export function loadRulesYaml(yaml: string, options: LoadOptions = {}): RuleGroup[] {
  const docs = parseAllDocuments(yaml);
  for (const doc of docs) {
    const [error] = doc.errors;
    if (error) throw new RuleError(`${options.source ?? "rules"}: ${error.message}`);
  }
  return loadRules(
    docs.map((doc) => doc.toJS() as unknown),
    options,
  );
}

/** The package's own Kubernetes rules. */
export function kubernetesRules(): RuleGroup[] {
  const path = packageFile("testbed", "telemetry", "rules", "kubernetes.yaml");
  return loadRulesYaml(readFileSync(path, "utf8"), { source: "kubernetes.yaml" });
}

function readGroup(group: z.infer<typeof groupSchema>, source: string, options: LoadOptions): RuleGroup {
  const where = `${source}: group "${group.name}"`;
  return {
    name: group.name,
    source,
    intervalMs: group.interval == null ? undefined : duration(group.interval, `${where}: interval`),
    ...(group.query_offset == null ? {} : { queryOffsetMs: duration(group.query_offset, `${where}: query_offset`) }),
    ...(group.limit ? { limit: group.limit } : {}),
    rules: (group.rules ?? []).map((rule) => readRule(rule, group.labels ?? {}, where, options)),
  };
}

function readRule(
  rule: z.infer<typeof ruleSchema>,
  groupLabels: Record<string, string>,
  where: string,
  options: LoadOptions,
): Rule {
  const { alert, record } = rule;
  if ((alert === undefined) === (record === undefined)) {
    throw new RuleError(`${where}: a rule needs either "alert" or "record" (${alert ?? rule.expr.trim()})`);
  }
  const name = (alert ?? record)!;
  const at = `${where}, rule "${name}"`;
  checkExpr(rule.expr, at);
  const labels = { ...groupLabels, ...rule.labels };
  if (record !== undefined) {
    if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name)) throw new RuleError(`${at}: not a valid metric name`);
    if (rule.for != null || rule.keep_firing_for != null || rule.annotations != null) {
      throw new RuleError(`${at}: "for", "keep_firing_for" and "annotations" are for alerts only`);
    }
    return { kind: "recording", name, expr: rule.expr, labels };
  }
  const annotations = rule.annotations ?? {};
  for (const [key, template] of [...Object.entries(labels), ...Object.entries(annotations)]) {
    try {
      compileTemplate(template);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      throw new RuleError(`${at}: template of "${key}": ${error.message}`);
    }
  }
  const own = rule.for == null ? 0 : duration(rule.for, `${at}: for`);
  const override = options.for?.[name];
  return {
    kind: "alerting",
    name,
    expr: rule.expr,
    forMs: override === undefined ? own : duration(override, `for of "${name}"`),
    keepFiringMs: rule.keep_firing_for == null ? 0 : duration(rule.keep_firing_for, `${at}: keep_firing_for`),
    labels,
    annotations,
  };
}

function checkExpr(expr: string, at: string): void {
  try {
    parse(expr);
  } catch (error) {
    if (!(error instanceof PromqlParseError)) throw error;
    throw new RuleError(`${at}: expr: ${error.message}`);
  }
}

function duration(value: string, at: string): number {
  const ms = parseDuration(value);
  if (ms === undefined) throw new RuleError(`${at}: not a duration: "${value}"; write it like 5m or 1h30m`);
  return ms;
}
