/** What the playbook learns about a namespace, and how: a handful of compact kubectl queries and their parsers. */
import type { Call, Script } from "./script.js";
import { type Failure, parseFailures } from "./traces.js";

export interface FiringAlert {
  name: string;
  labels: Record<string, string>;
}

export interface Workload {
  kind: string;
  name: string;
  replicas: number;
  ready: number;
  selector: Record<string, string>;
  ports: { containerPort: number; name?: string }[];
  /** Environment of all containers; references to other objects are left out. */
  env: Record<string, string>;
}

export interface PodRow {
  name: string;
  ready: string;
  status: string;
  restarts: number;
}

export interface ServiceRow {
  name: string;
  selector: Record<string, string>;
  ports: { name?: string; port: number; targetPort?: number | string }[];
  /** Ready addresses behind it. */
  endpoints: number;
}

export interface WarningRow {
  kind: string;
  name: string;
  reason: string;
  message: string;
}

export interface Flag {
  configMap: string;
  key: string;
  /** The document under that key, as it stands. */
  document: string;
  name: string;
  variant: string;
  description: string;
  variants: string[];
}

export interface Evidence {
  namespace: string;
  alerts: FiringAlert[];
  workloads: Workload[];
  pods: PodRow[];
  services: ServiceRow[];
  warnings: WarningRow[];
  /** ConfigMaps that hold flags, and each flag that is not in its resting state. */
  flags: Flag[];
  /** What failed traces of the services with alerts say; empty without traces. */
  failures: Failure[];
}

/** How the playbook asks: each member makes a call of one of its tools. */
export interface Asking {
  kubectl(command: string): Call;
  /** Failed traces through a service; absent when the agent has no traces. */
  failedTraces?(service: string): Call;
}

/** Services whose traces are read, at most. */
const TRACED_SERVICES = 2;

const line = (...fields: string[]) => `'{range .items[*]}${fields.join('{"\\t"}')}{"\\n"}{end}'`;

/** The queries of the first look, as kubectl commands; every one stays well under the bound of an observation. */
export function queries(namespace: string): Record<string, string> {
  const get = (what: string) => `kubectl get ${what} -n ${namespace}`;
  return {
    workloads: `${get("deployments,statefulsets")} -o jsonpath=${line("{.kind}", "{.metadata.name}", "{.spec.replicas}", "{.status.readyReplicas}", "{.spec.selector.matchLabels}", "{.spec.template.spec.containers[*].ports}")}`,
    pods: get("pods"),
    services: `${get("services")} -o jsonpath=${line("{.metadata.name}", "{.spec.selector}", "{.spec.ports}")}`,
    endpoints: `${get("endpointslices")} -o jsonpath=${line("{.metadata.labels.kubernetes\\.io/service-name}", "{.endpoints[?(@.conditions.ready==true)].addresses[0]}")}`,
    warnings: `${get("events")} --field-selector type=Warning -o jsonpath=${line("{.involvedObject.kind}", "{.involvedObject.name}", "{.reason}", "{.message}")} | sort | uniq | tail -n 40`,
    env: `${get("deployments,statefulsets")} -o jsonpath='{range .items[*]}#{.metadata.name}{"\\n"}{range .spec.template.spec.containers[*].env[*]}{.name}={.value}{"\\n"}{end}{end}' | grep -E '^#|_(ADDR|HOST|PORT|ENDPOINT|URL)='`,
    configMaps: `${get("configmaps")} -o name`,
  };
}

/** Whether the alert tool's answer says that nothing fires; an error, or no answer, says nothing of the kind. */
export function noneFires(text: string): boolean {
  return /^no firing alerts\b/m.test(text);
}

/** Reads the firing alerts out of the alert tool's answer: `Name{label="value", ...} firing since ...` a line. */
export function parseAlerts(text: string): FiringAlert[] {
  return text.split("\n").flatMap((row) => {
    const head = /^([A-Za-z_]\w*)\{(.*?)\} firing since\b/.exec(row);
    if (!head) return [];
    const labels: Record<string, string> = {};
    for (const pair of head[2]!.matchAll(/([a-z_][a-z0-9_]*)="?([^",]*)"?/gi)) labels[pair[1]!] = pair[2]!;
    return [{ name: head[1]!, labels }];
  });
}

/** Looks around in `namespace`: one step for the queries, one more for flags where a ConfigMap holds some. */
export function* gather(namespace: string, alerts: FiringAlert[], ask: Asking): Script<Evidence> {
  const asked = queries(namespace);
  const names = Object.keys(asked);
  const alerting = alerts.map((alert) => alert.labels.service_name).filter((name): name is string => !!name);
  const traced = ask.failedTraces ? [...new Set(alerting)].slice(0, TRACED_SERVICES) : [];
  const answers = yield [
    ...names.map((name) => ask.kubectl(asked[name]!)),
    ...traced.map((service) => ask.failedTraces!(service)),
  ];
  const answer = (name: string) => answers[names.indexOf(name)] ?? "";

  const workloads = parseWorkloads(answer("workloads"), answer("env"));
  const services = parseServices(answer("services"), answer("endpoints"));
  const flagMaps = answer("configMaps")
    .split("\n")
    .map((row) => /^configmap\/(\S*flag\S*)$/.exec(row.trim())?.[1])
    .filter((name): name is string => name !== undefined);
  const flags: Flag[] = [];
  if (flagMaps.length > 0) {
    const data = yield flagMaps.map((name) => ask.kubectl(readConfigMap(namespace, name)));
    flagMaps.forEach((name, i) => {
      flags.push(...parseFlags(name, data[i] ?? ""));
    });
  }
  return {
    namespace,
    alerts,
    workloads,
    pods: parsePods(answer("pods")),
    services,
    warnings: rows(answer("warnings"), 4).map(([kind, name, reason, message]) => ({
      kind: kind!,
      name: name!,
      reason: reason!,
      message: message!,
    })),
    flags: flags.filter(isActive),
    failures: answers.slice(names.length).flatMap(parseFailures),
  };
}

/** The command that reads a ConfigMap's data as JSON. */
function readConfigMap(namespace: string, name: string): string {
  return `kubectl get configmap ${name} -n ${namespace} -o jsonpath='{.data}'`;
}

function rows(text: string, fields: number): string[][] {
  return text
    .split("\n")
    .map((row) => row.split("\t"))
    .filter((cells) => cells.length >= fields);
}

function json<T>(text: string | undefined, fallback: T): T {
  try {
    return text?.trim() ? (JSON.parse(text) as T) : fallback;
  } catch {
    return fallback;
  }
}

function parseWorkloads(text: string, envText: string): Workload[] {
  const env = new Map<string, Record<string, string>>();
  let current: Record<string, string> = {};
  for (const row of envText.split("\n")) {
    if (row.startsWith("#")) {
      current = {};
      env.set(row.slice(1).trim(), current);
      continue;
    }
    const at = row.indexOf("=");
    if (at > 0 && row.slice(at + 1) !== "") current[row.slice(0, at)] = row.slice(at + 1);
  }
  return rows(text, 6).map(([kind, name, replicas, ready, selector, ports]) => ({
    kind: kind!,
    name: name!,
    replicas: Number(replicas || 0),
    ready: Number(ready || 0),
    selector: json(selector, {}),
    // Several containers' lists stand side by side: `[...] [...]`.
    ports: json<Workload["ports"][]>(`[${ports!.trim().replaceAll("] [", "],[")}]`, []).flat(),
    env: env.get(name!) ?? {},
  }));
}

function parsePods(text: string): PodRow[] {
  return text
    .split("\n")
    .map((row) => /^(\S+)\s+(\d+\/\d+)\s+(\S+)\s+(\d+)/.exec(row))
    .filter((match): match is RegExpExecArray => match !== null)
    .map((match) => ({ name: match[1]!, ready: match[2]!, status: match[3]!, restarts: Number(match[4]) }));
}

function parseServices(text: string, endpoints: string): ServiceRow[] {
  const ready = new Map<string, number>();
  for (const [name, addresses] of rows(endpoints, 2)) {
    const count = addresses!.trim() ? addresses!.trim().split(/\s+/).length : 0;
    ready.set(name!, (ready.get(name!) ?? 0) + count);
  }
  return rows(text, 3).map(([name, selector, ports]) => ({
    name: name!,
    selector: json(selector, {}),
    ports: json(ports, []),
    endpoints: ready.get(name!) ?? 0,
  }));
}

/** Flags in flagd's format, of any key of the ConfigMap's data. */
export function parseFlags(configMap: string, data: string): Flag[] {
  const flags: Flag[] = [];
  for (const [key, text] of Object.entries(json<Record<string, string>>(data, {}))) {
    const document = json<{ flags?: Record<string, any> }>(text, {});
    for (const [name, flag] of Object.entries(document.flags ?? {})) {
      flags.push({
        configMap,
        key,
        document: text,
        name,
        variant: String(flag?.defaultVariant ?? ""),
        description: String(flag?.description ?? ""),
        variants: Object.keys(flag?.variants ?? {}),
      });
    }
  }
  return flags;
}

/** A flag that could be off and is not, unless it says that it belongs to normal operation. */
function isActive(flag: Flag): boolean {
  if (!flag.variants.includes("off") || flag.variant === "off") return false;
  const said = `${flag.name} ${flag.description}`;
  if (/fail|unavailab|unreach|slow|delay|leak|overload|flood|high|garbage|error|problem|lag/i.test(said)) return true;
  return !/\b(enable|run|start)s?\b|traffic|users/i.test(said);
}

/** An address that a workload was told. */
export interface Address {
  variable: string;
  host: string;
  port?: number;
}

/** Addresses in a workload's environment: `host:port`, URLs, and HOST/PORT pairs; only names that DNS could know. */
export function addresses(workload: Workload): Address[] {
  const found: Address[] = [];
  for (const [variable, value] of Object.entries(workload.env)) {
    const pair = /^(.*)_HOST$/.exec(variable);
    if (pair && /^[a-z][a-z0-9-]*$/.test(value)) {
      const port = Number(workload.env[`${pair[1]}_PORT`]);
      found.push({ variable, host: value, ...(Number.isInteger(port) ? { port } : {}) });
      continue;
    }
    const address = /^(?:[a-z]+:\/\/)?([a-z][a-z0-9-]*):(\d+)(?:\/.*)?$/.exec(value);
    if (address && address[1] !== "localhost") {
      found.push({ variable, host: address[1]!, port: Number(address[2]) });
    }
  }
  return found;
}
