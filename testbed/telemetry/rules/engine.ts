/** Evaluates rules on the virtual clock: recorded series, alerts and their states. */
import type { Timer, VirtualClock } from "../../clock.js";
import type { Alert } from "../../environment.js";
import { labelKey } from "../metric-store.js";
import type { Labels, MetricStore, Series } from "../metrics.js";
import { STALE } from "../metrics.js";
import type { Metric, PreparedQuery } from "../promql/index.js";
import { prepare, selectors } from "../promql/index.js";
import type { AlertingRule, RecordingRule, Rule, RuleGroup } from "./load.js";
import type { Template } from "./template.js";
import { compileTemplate } from "./template.js";

export interface RuleEngineOptions {
  clock: VirtualClock;
  store: MetricStore;
  groups: readonly RuleGroup[];
  /** Milliseconds between evaluations of a group that names no interval. Default: 30,000. */
  intervalMs?: number;
  externalLabels?: Readonly<Record<string, string>>;
}

/** An alert's life so far. */
export interface AlertRecord {
  name: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: "pending" | "firing" | "resolved";
  /** Milliseconds since the epoch. */
  activeAt: number;
  firedAt?: number;
  resolvedAt?: number;
  value: number;
}

export interface AlertChange {
  alert: AlertRecord;
  from: "inactive" | "pending" | "firing";
  to: "pending" | "firing" | "resolved" | "inactive";
  /** Milliseconds since the epoch. */
  at: number;
}

export interface RuleStatus {
  rule: Rule;
  health: "ok" | "err" | "unknown";
  lastError: string | undefined;
  /** Milliseconds since the epoch. */
  lastEvaluation: number | undefined;
  /** Of an alerting rule: what is active. */
  alerts: AlertRecord[];
}

export interface GroupStatus {
  name: string;
  source: string;
  intervalMs: number;
  lastEvaluation: number | undefined;
  rules: RuleStatus[];
}

export interface RuleEngine {
  /** Pending and firing alerts, in order of groups and rules. */
  alerts(): Alert[];
  /** The same with value and, where asked, those resolved in the last 15 minutes. */
  records(options?: { resolved?: boolean }): AlertRecord[];
  /** Every alert that ever fired, oldest first, with its times. */
  history(): readonly AlertRecord[];
  groups(): GroupStatus[];
  /** Calls `listener` at each change of an alert's state; returns how to stop it. */
  onChange(listener: (change: AlertChange) => void): () => void;
  /** Metrics that rules read, but that neither a series nor a recording rule provides. */
  missing(): { group: string; rule: string; metrics: string[] }[];
  /** Evaluates all groups in this instant. */
  evaluate(): void;
  stop(): void;
}

/** How long a resolved alert is still told to receivers, as in Prometheus. */
const RESOLVED_RETENTION_MS = 15 * 60_000;

interface RunningRule {
  status(): RuleStatus;
  evaluate(now: number): void;
}

/** Starts evaluating; the first evaluation of a group is one interval from now. */
export function createRuleEngine(options: RuleEngineOptions): RuleEngine {
  const { clock, store } = options;
  const defaultInterval = options.intervalMs ?? 30_000;
  const listeners = new Set<(change: AlertChange) => void>();
  const history: AlertRecord[] = [];

  const notify = (change: AlertChange): void => {
    if (change.to === "firing") history.push(change.alert);
    for (const listener of listeners) listener(change);
  };
  const groups = options.groups.map((group) => ({
    group,
    intervalMs: group.intervalMs ?? defaultInterval,
    lastEvaluation: undefined as number | undefined,
    rules: group.rules.map(
      (rule): RunningRule =>
        rule.kind === "recording"
          ? startRecording(store, rule, group)
          : startAlerting(store, rule, group, options.externalLabels ?? {}, notify),
    ),
  }));

  function run(selected: typeof groups): void {
    const now = clock.now();
    for (const group of selected) {
      group.lastEvaluation = now;
      for (const rule of group.rules) rule.evaluate(now);
    }
  }

  const timers: Timer[] = [];
  for (const interval of new Set(groups.map((group) => group.intervalMs))) {
    const due = groups.filter((group) => group.intervalMs === interval);
    timers.push(clock.every(interval, () => run(due)));
  }

  function records({ resolved = false } = {}): AlertRecord[] {
    const all = groups.flatMap((group) => group.rules.flatMap((rule) => rule.status().alerts));
    return resolved ? all : all.filter((alert) => alert.state !== "resolved");
  }

  return {
    records,
    alerts: () =>
      records().map((record) => ({
        name: record.name,
        state: record.state as "pending" | "firing",
        labels: record.labels,
        annotations: record.annotations,
        activeAt: record.activeAt,
        ...(record.firedAt === undefined ? {} : { firedAt: record.firedAt }),
      })),
    history: () => history,
    groups: () =>
      groups.map(({ group, intervalMs, lastEvaluation, rules }) => ({
        name: group.name,
        source: group.source,
        intervalMs,
        lastEvaluation,
        rules: rules.map((rule) => {
          const status = rule.status();
          return { ...status, alerts: status.alerts.filter((alert) => alert.state !== "resolved") };
        }),
      })),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    missing: () => missingMetrics(store, options.groups),
    evaluate: () => run(groups),
    stop() {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** What a rule's last evaluation came to. */
function createHealth() {
  const state: Pick<RuleStatus, "health" | "lastError" | "lastEvaluation"> = {
    health: "unknown",
    lastError: undefined,
    lastEvaluation: undefined,
  };
  return {
    state,
    /** Runs an evaluation; what it throws is kept as the rule's error. */
    attempt(now: number, run: () => void): void {
      state.lastEvaluation = now;
      try {
        run();
        state.health = "ok";
        state.lastError = undefined;
      } catch (error) {
        state.health = "err";
        state.lastError = (error as Error).message;
      }
    },
  };
}

/** Writes samples of one round, and marks as stale what the round before wrote and this one did not. */
function createWriter(store: MetricStore) {
  let previous = new Set<Series>();
  let current = new Set<Series>();
  return {
    write(series: Series, now: number, value: number): void {
      current.add(series);
      store.append(series, now, value);
    },
    finish(now: number): void {
      for (const series of previous) if (!current.has(series)) store.append(series, now, STALE);
      [previous, current] = [current, previous];
      current.clear();
    },
  };
}

/** @throws Error when a rule yields more than its group allows */
function checkLimit(group: RuleGroup, count: number, what: string): void {
  if (group.limit !== undefined && count > group.limit) {
    throw new Error(`exceeded limit of ${group.limit} with ${count} ${what}`);
  }
}

function startRecording(store: MetricStore, rule: RecordingRule, group: RuleGroup): RunningRule {
  const query = prepare(store, rule.expr);
  const writer = createWriter(store);
  const targets = new Map<Metric, Series>();
  const samples = new Map<Series, number>();
  const health = createHealth();

  function target(metric: Metric): Series {
    let series = targets.get(metric);
    if (series === undefined) {
      series = store.series({ ...metric.labels, ...rule.labels, __name__: rule.name });
      targets.set(metric, series);
    }
    return series;
  }

  return {
    status: () => ({ rule, ...health.state, alerts: [] }),
    evaluate(now) {
      health.attempt(now, () => {
        samples.clear();
        query.forEach(now - (group.queryOffsetMs ?? 0), (metric, value) => {
          const series = target(metric);
          if (samples.has(series)) {
            throw new Error("vector contains metrics with the same labelset after applying rule labels");
          }
          samples.set(series, value);
        });
        checkLimit(group, samples.size, "series");
        for (const [series, value] of samples) writer.write(series, now, value);
        writer.finish(now);
      });
    },
  };
}

interface Active {
  record: AlertRecord;
  /** Labels of the sample: what the templates see. */
  sampleLabels: Labels;
  seen: number;
  keepFiringSince: number | undefined;
  pendingSeries: Series;
  firingSeries: Series;
  forStateSeries: Series;
}

function startAlerting(
  store: MetricStore,
  rule: AlertingRule,
  group: RuleGroup,
  externalLabels: Readonly<Record<string, string>>,
  notify: (change: AlertChange) => void,
): RunningRule {
  const query: PreparedQuery = prepare(store, rule.expr);
  const labelTemplates = Object.entries(rule.labels).map(([name, text]) => [name, compileTemplate(text)] as const);
  const staticLabels = Object.values(rule.labels).every((text) => !text.includes("{{"));
  const annotationTemplates = Object.entries(rule.annotations).map(
    ([name, text]) => [name, compileTemplate(text)] as const,
  );
  const writer = createWriter(store);
  const health = createHealth();
  const active = new Map<string, Active>();
  const keys = new Map<Metric, { labels: Record<string, string>; key: string }>();
  let round = 0;

  const render = (template: Template, labels: Labels, value: number, at: number): string => {
    try {
      return template({
        labels,
        value,
        externalLabels,
        query(text) {
          const result = prepare(store, text).instant(at, { notes: false }).value;
          return result.type === "vector" ? result.samples : [];
        },
      });
    } catch (error) {
      return `<error expanding template: ${(error as Error).message}>`;
    }
  };

  function identify(metric: Metric, value: number, now: number): { labels: Record<string, string>; key: string } {
    const known = staticLabels ? keys.get(metric) : undefined;
    if (known !== undefined) return known;
    const { __name__: _, ...sampleLabels } = metric.labels;
    const labels: Record<string, string> = { ...sampleLabels };
    for (const [name, template] of labelTemplates) {
      const text = render(template, sampleLabels, value, now);
      if (text === "") delete labels[name];
      else labels[name] = text;
    }
    labels.alertname = rule.name;
    const identity = { labels, key: labelKey(labels) };
    if (staticLabels) keys.set(metric, identity);
    return identity;
  }

  function start(metric: Metric, labels: Record<string, string>, value: number, now: number): Active {
    const { __name__: _, ...sampleLabels } = metric.labels;
    const record: AlertRecord = {
      name: rule.name,
      labels,
      annotations: {},
      state: "pending",
      activeAt: now,
      value,
    };
    const one: Active = {
      record,
      sampleLabels,
      seen: round,
      keepFiringSince: undefined,
      pendingSeries: store.series({ ...labels, __name__: "ALERTS", alertstate: "pending" }),
      firingSeries: store.series({ ...labels, __name__: "ALERTS", alertstate: "firing" }),
      forStateSeries: store.series({ ...labels, __name__: "ALERTS_FOR_STATE" }),
    };
    // Annotations are for readers, and there may be none: they are written when they are read.
    const cache = { value: Number.NaN, text: {} as Record<string, string>, done: false };
    Object.defineProperty(record, "annotations", {
      enumerable: true,
      get() {
        if (!cache.done || cache.value !== record.value) {
          cache.done = true;
          cache.value = record.value;
          cache.text = Object.fromEntries(
            annotationTemplates.map(([name, template]) => [
              name,
              render(template, sampleLabels, record.value, health.state.lastEvaluation ?? now),
            ]),
          );
        }
        return cache.text;
      },
    });
    return one;
  }

  function step(now: number): void {
    round++;
    let count = 0;
    query.forEach(now - (group.queryOffsetMs ?? 0), (metric, value) => {
      checkLimit(group, ++count, "alerts");
      const { labels, key } = identify(metric, value, now);
      let one = active.get(key);
      if (one?.seen === round && one.record.state !== "resolved") {
        throw new Error("vector contains metrics with the same labelset after applying alert labels");
      }
      if (one === undefined || one.record.state === "resolved") {
        one = start(metric, labels, value, now);
        active.set(key, one);
        if (rule.forMs > 0) notify({ alert: one.record, from: "inactive", to: "pending", at: now });
      }
      one.seen = round;
      one.record.value = value;
      one.keepFiringSince = undefined;
    });
    for (const [key, one] of active) {
      advance(key, one, now);
      if (one.record.state === "resolved" || !active.has(key)) continue;
      writer.write(one.record.state === "firing" ? one.firingSeries : one.pendingSeries, now, 1);
      writer.write(one.forStateSeries, now, one.record.activeAt / 1000);
    }
    writer.finish(now);
  }

  /** Moves one alert to the state that this round asks for. */
  function advance(key: string, one: Active, now: number): void {
    const { record } = one;
    if (record.state === "resolved") {
      if (now - record.resolvedAt! > RESOLVED_RETENTION_MS) active.delete(key);
      return;
    }
    if (one.seen === round) {
      if (record.state === "pending" && now - record.activeAt >= rule.forMs) {
        record.state = "firing";
        record.firedAt = now;
        notify({ alert: record, from: rule.forMs > 0 ? "pending" : "inactive", to: "firing", at: now });
      }
      return;
    }
    if (record.state === "pending") {
      active.delete(key);
      notify({ alert: record, from: "pending", to: "inactive", at: now });
      return;
    }
    if (rule.keepFiringMs > 0) {
      one.keepFiringSince ??= now;
      if (now - one.keepFiringSince < rule.keepFiringMs) return;
    }
    record.state = "resolved";
    record.resolvedAt = now;
    notify({ alert: record, from: "firing", to: "resolved", at: now });
  }

  return {
    status: () => ({ rule, ...health.state, alerts: [...active.values()].map((one) => one.record) }),
    evaluate: (now) => health.attempt(now, () => step(now)),
  };
}

function missingMetrics(
  store: MetricStore,
  groups: readonly RuleGroup[],
): { group: string; rule: string; metrics: string[] }[] {
  const recorded = new Set<string>(["ALERTS", "ALERTS_FOR_STATE"]);
  for (const { rules } of groups) for (const rule of rules) if (rule.kind === "recording") recorded.add(rule.name);
  const lacking: { group: string; rule: string; metrics: string[] }[] = [];
  for (const { name, rules } of groups) {
    for (const rule of rules) {
      const metrics = new Set<string>();
      for (const { matchers } of selectors(prepare(store, rule.expr).expr)) {
        const named = matchers.filter((m) => m.name === "__name__");
        if (named.length === 0 || store.select(named).length > 0) continue;
        const wanted = named.map((m) => (m.op === "=" ? m.value : `${m.op}${m.value}`)).join(" ");
        if (!recorded.has(wanted)) metrics.add(wanted);
      }
      if (metrics.size > 0) lacking.push({ group: name, rule: rule.name, metrics: [...metrics].sort() });
    }
  }
  return lacking;
}
