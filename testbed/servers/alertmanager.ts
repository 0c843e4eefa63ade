/** Alertmanager's HTTP API (v2) over the alerts of the rule engine: the read side. Nothing is silenced or inhibited. */
import { type Context, Hono } from "hono";
import type { VirtualClock } from "../clock.js";
import { compileRe2, type Re2 } from "../telemetry/re2.js";
import { RegexError } from "../telemetry/regex.js";
import type { AlertRecord, RuleEngine } from "../telemetry/rules/index.js";
import { type Face, requireToken, type ServeOptions, serveApp } from "./serve.js";

export interface AlertmanagerOptions extends ServeOptions {
  rules: RuleEngine;
  clock: VirtualClock;
  /** Bearer token to ask for; default: none. */
  token?: string;
  /** Name of the one receiver. */
  receiver?: string;
  /** Labels by which alerts are grouped. */
  groupBy?: readonly string[];
}

/** Prometheus tells Alertmanager of a firing alert that it ends in four times the resend delay (one minute). */
const ENDS_AFTER_MS = 4 * 60_000;

class BadRequest extends Error {}

/** Serves Alertmanager's API on 127.0.0.1. @throws EnvironmentError when the port is in use */
export function serveAlertmanager(options: AlertmanagerOptions): Promise<Face> {
  return serveApp(alertmanagerApp(options), "Alertmanager", options);
}

/** The API without a socket. */
export function alertmanagerApp(options: Omit<AlertmanagerOptions, "port" | "host">): Hono {
  const { rules, clock, receiver = "default", groupBy = ["namespace"] } = options;
  const started = clock.now();
  const app = new Hono();
  app.use("*", requireToken(options.token));
  app.get("/-/healthy", (context) => context.text("OK"));
  app.get("/-/ready", (context) => context.text("OK"));

  /** The firing alerts that the request's filters let through, in order of their fingerprints. */
  const selected = (context: Context) => {
    const query = new URL(context.req.url).searchParams;
    const tests = query.getAll("filter").map(readFilter);
    if (!flag(query, "active")) return [];
    const receivers = query.get("receiver");
    if (receivers && !compileRegex(receivers).test(receiver)) return [];
    return rules
      .records()
      .filter((record) => record.state === "firing" && tests.every((test) => test(record.labels)))
      .map((record) => alertJson(record, receiver, clock.now()))
      .sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
  };

  app.get("/api/v2/alerts", (context) => context.json(selected(context)));

  app.get("/api/v2/alerts/groups", (context) => {
    const groups = new Map<string, { labels: Record<string, string>; receiver: object; alerts: object[] }>();
    for (const alert of selected(context)) {
      const labels = Object.fromEntries(
        groupBy.flatMap((name) => (alert.labels[name] === undefined ? [] : [[name, alert.labels[name]]])),
      );
      const key = JSON.stringify(labels);
      const group = groups.get(key) ?? { labels, receiver: { name: receiver }, alerts: [] };
      groups.set(key, group);
      group.alerts.push(alert);
    }
    const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
    return context.json(sorted.map(([, group]) => group));
  });

  app.get("/api/v2/receivers", (context) => context.json([{ name: receiver }]));
  app.get("/api/v2/silences", (context) => context.json([]));
  app.get("/api/v2/silence/:id", (context) => context.body(null, 404));
  app.get("/api/v2/status", (context) =>
    context.json({
      cluster: { name: "", peers: [], status: "disabled" },
      config: {
        original: `route:\n  receiver: ${receiver}\n  group_by: [${groupBy.join(", ")}]\nreceivers:\n- name: ${receiver}\n`,
      },
      uptime: new Date(started).toISOString(),
      versionInfo: {
        branch: "HEAD",
        buildDate: "",
        buildUser: "itbench-baselines",
        goVersion: "",
        revision: "simulated",
        version: "0.28.0",
      },
    }),
  );
  app.all("/api/v2/*", (context) =>
    context.json({ code: 405, message: `method ${context.req.method} is not allowed on ${context.req.path}` }, 405),
  );
  app.onError((error, context) =>
    error instanceof BadRequest ? context.json(error.message, 400) : context.json(error.message, 500),
  );
  return app;
}

/** Boolean parameters default to true. */
function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text !== null && text !== "true" && text !== "false") {
    throw new BadRequest(`${name} in query must be of type boolean: "${text}"`);
  }
  return text !== "false";
}

function compileRegex(pattern: string): Re2 {
  try {
    return compileRe2(pattern, { anchored: true });
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new BadRequest(error.message);
  }
}

/** `alertname="x"`, `severity=~"a|b"`, `pod!=y`. */
function readFilter(text: string): (labels: Record<string, string>) => boolean {
  const match = /^\s*\{?\s*([a-zA-Z_][\w.]*)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|([^"]*?))\s*\}?\s*$/.exec(text);
  if (!match) throw new BadRequest(`bad matcher format: ${text}`);
  const [, name, op, quoted, bare] = match;
  const value =
    quoted === undefined ? bare! : quoted.replace(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char));
  if (op === "=") return (labels) => (labels[name!] ?? "") === value;
  if (op === "!=") return (labels) => (labels[name!] ?? "") !== value;
  const regex = compileRegex(value);
  return (labels) => regex.test(labels[name!] ?? "") === (op === "=~");
}

function alertJson(record: AlertRecord, receiver: string, now: number) {
  return {
    annotations: record.annotations,
    endsAt: new Date(now + ENDS_AFTER_MS).toISOString(),
    fingerprint: fingerprint(record.labels),
    receivers: [{ name: receiver }],
    startsAt: new Date(record.firedAt ?? record.activeAt).toISOString(),
    status: { inhibitedBy: [], mutedBy: [], silencedBy: [], state: "active" },
    updatedAt: new Date(now).toISOString(),
    generatorURL: `/graph?g0.expr=${encodeURIComponent(`ALERTS{alertname="${record.name}"}`)}&g0.tab=1`,
    labels: record.labels,
  };
}

/** Prometheus' fingerprint of a label set: 64-bit FNV-1a over names and values, each followed by 0xff. */
export function fingerprint(labels: Readonly<Record<string, string>>): string {
  let hash = 0xcbf29ce484222325n;
  const add = (byte: number): void => {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  };
  for (const name of Object.keys(labels).sort()) {
    for (const part of [name, labels[name]!]) {
      for (const byte of Buffer.from(part, "utf8")) add(byte);
      add(0xff);
    }
  }
  return hash.toString(16).padStart(16, "0");
}
