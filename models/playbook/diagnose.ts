/** The diagnosis playbook: alerts, one look at the namespace, rules, an answer. */
import { type Asking, addresses, type Evidence, type FiringAlert, gather, parseAlerts } from "./evidence.js";
import { blamed, type Hypothesis, hypotheses } from "./hypotheses.js";
import { ask, type Call, type Script } from "./script.js";
import { alertsCall, failedTracesCall, kubectlCall, type Toolbox } from "./toolbox.js";

/** From this weight on a hypothesis is a cause of its own; below it may only explain what nothing else does. */
const CERTAIN = 1;

/** Looks around: the firing alerts, and the evidence of each namespace that they speak of. */
export function* investigate(toolbox: Toolbox): Script<{ alerts: FiringAlert[]; evidence: Evidence[] }> {
  const alerts = parseAlerts(yield* askOne(alertsCall(toolbox)));
  const named = alerts.map((alert) => alert.labels.namespace).filter((name): name is string => !!name);
  const namespaces = [...new Set([...named, ...toolbox.namespaces])].filter(
    (name) => toolbox.namespaces.length === 0 || toolbox.namespaces.includes(name),
  );
  const { traces } = toolbox;
  const asking: Asking = {
    kubectl: (command) => kubectlCall(toolbox, command),
    ...(traces === undefined ? {} : { failedTraces: (service: string) => failedTracesCall(traces, service) }),
  };
  const evidence: Evidence[] = [];
  for (const namespace of namespaces) {
    const own = alerts.filter((alert) => (alert.labels.namespace ?? namespace) === namespace);
    evidence.push(yield* gather(namespace, own, asking));
  }
  return { alerts, evidence };
}

function* askOne(call: Call): Script<string> {
  return yield* ask(call.tool, call.args);
}

/** Causes among the hypotheses: all certain ones, or else the best of the rest. */
export function causes(evidence: readonly Evidence[]): Hypothesis[] {
  const all = evidence.flatMap(hypotheses).sort((a, b) => b.weight - a.weight);
  const certain = all.filter((one) => one.weight >= CERTAIN);
  if (certain.length > 0) return certain;
  return evidence.some((one) => one.alerts.length > 0) ? all.slice(0, 1) : [];
}

export function* diagnose(toolbox: Toolbox): Script {
  const { alerts, evidence } = yield* investigate(toolbox);
  const found = yield* corroborate(toolbox, evidence, causes(evidence));
  const chain = found.flatMap((cause) => evidence.flatMap((one) => propagations(one, cause)));
  const reached = new Set(chain.flatMap((link) => [link.source, link.target]));
  const symptoms = [...reached].filter((name) => !found.some((cause) => cause.entity === name));
  yield* ask(toolbox.submit, {
    entities: [
      ...found.map((cause) => ({
        name: cause.entity,
        contributing_factor: true,
        reasoning: cause.condition,
        evidence: cause.evidence,
      })),
      ...symptoms.map((name) => ({
        name,
        contributing_factor: false,
        reasoning: "lies on the way from a root cause to an alert",
        evidence: chain.find((link) => link.target === name)?.condition ?? "",
      })),
    ],
    propagations: chain,
    alerts_explained: alerts.map((alert) => explain(alert, found, chain)),
    summary:
      found.length > 0
        ? found.map((cause) => cause.condition).join("; ")
        : "No contradiction in the state of workloads, services, configuration and flags: no root cause to name.",
  });
}

/** What a log says of trouble. */
const TROUBLE = "error|fail|refused|panic|unavailable|timeout|timed out|exception|denied";
/** Causes whose logs are read, at most. */
const READ_LOGS_OF = 3;

/**
 * One more piece of evidence for each cause: where failed traces point to it they are that, elsewhere the log of what it
 * breaks is read, which takes a step.
 */
function* corroborate(
  toolbox: Toolbox,
  evidence: readonly Evidence[],
  found: readonly Hypothesis[],
): Script<readonly Hypothesis[]> {
  const calls = found.map((cause, i) => {
    const place = evidence.find((one) => cause.entity.startsWith(`${one.namespace}/`));
    const workload = place?.workloads.find((one) => one.name === cause.component);
    if (!place || !workload || i >= READ_LOGS_OF || blamed(place, cause)) return undefined;
    const from = `${workload.kind.toLowerCase()}/${workload.name} -n ${place.namespace}`;
    return kubectlCall(toolbox, `kubectl logs ${from} --tail=200 | grep -iE '${TROUBLE}' | tail -n 3`);
  });
  const asked = calls.filter((call): call is Call => call !== undefined);
  if (asked.length === 0) return found;
  const answers = yield asked;
  return found.map((cause, i) => {
    const call = calls[i];
    if (call === undefined) return cause;
    const said = (answers[asked.indexOf(call)] ?? "").trim().slice(0, 300);
    return { ...cause, evidence: `${cause.evidence}; ${said === "" ? "its log tells of no trouble" : `log: ${said}`}` };
  });
}

interface Link {
  source: string;
  target: string;
  condition: string;
  effect: string;
}

/**
 * The chain from a cause's component up to those with alerts: through its callers as failed traces show them, and along
 * addresses in environments for the rest.
 */
function propagations(evidence: Evidence, cause: Hypothesis): Link[] {
  const { namespace } = evidence;
  if (!cause.entity.startsWith(`${namespace}/`)) return [];
  const service = (name: string) =>
    `${namespace}/${evidence.services.some((one) => one.name === name) || cause.entity.endsWith(`/Service/${name}`) ? "Service" : "Deployment"}/${name}`;
  const alerting = new Set(evidence.alerts.map((alert) => alert.labels.service_name).filter(Boolean));
  const links: Link[] = [];
  const start = service(cause.component);
  if (start !== cause.entity) {
    links.push({
      source: cause.entity,
      target: start,
      condition: cause.condition,
      effect: `${cause.component} cannot serve its callers`,
    });
  }
  const seen = new Set([cause.component]);
  const queue = [cause.component];
  while (queue.length > 0) {
    const callee = queue.shift()!;
    for (const caller of callersOf(evidence, callee)) {
      if (seen.has(caller)) continue;
      seen.add(caller);
      if (!alerting.has(caller)) continue;
      queue.push(caller);
      links.push({
        source: service(callee),
        target: service(caller),
        condition: `${callee} fails or does not answer`,
        effect: `requests of ${caller} that need ${callee} fail`,
      });
    }
  }
  return links;
}

/** Those seen to fail in a call of `callee` first, then those that know its address. */
function callersOf(evidence: Evidence, callee: string): string[] {
  const failed = evidence.failures.flatMap(({ path, peer }) => {
    const chain = peer === undefined ? path : [...path, peer];
    const at = chain.lastIndexOf(callee);
    return at > 0 ? [chain[at - 1]!] : [];
  });
  const told = evidence.workloads
    .filter((workload) => addresses(workload).some(({ host }) => host === callee))
    .map((workload) => workload.name);
  return [...new Set([...failed, ...told])];
}

function explain(alert: FiringAlert, found: readonly Hypothesis[], chain: readonly Link[]) {
  const about = alert.labels.service_name ?? alert.labels.pod ?? alert.labels.deployment ?? "";
  const cause = found.find((one) => about === one.component || about.startsWith(`${one.component}-`));
  const onChain = chain.some((link) => link.target.endsWith(`/${about}`));
  const label = `${alert.name}${about ? ` (${about})` : ""}`;
  if (cause) return { alert: label, explanation: cause.condition, explained: true };
  if (onChain) return { alert: label, explanation: `${about} depends on ${found[0]!.component}`, explained: true };
  return {
    alert: label,
    explanation: found.length > 0 ? `likely follows from: ${found[0]!.condition}` : "no cause found",
    explained: found.length > 0,
  };
}
