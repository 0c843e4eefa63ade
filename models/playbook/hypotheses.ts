/** From evidence to root causes: each rule looks for one kind of contradiction in what the cluster says of itself. */
import { addresses, type Evidence, type Flag, type PodRow, type ServiceRow, type Workload } from "./evidence.js";

/** What to do about a cause; the mitigation turns it into commands. */
export type Remedy =
  | { kind: "undo"; workload: Workload }
  | { kind: "scale"; workload: Workload; replicas: number }
  | { kind: "target-ports"; service: ServiceRow; ports: { port: number; targetPort: number }[] }
  | { kind: "selector"; service: ServiceRow; selector: Record<string, string> }
  | {
      kind: "create-service";
      name: string;
      selector: Record<string, string>;
      ports: { port: number; targetPort: number }[];
    }
  | { kind: "flags"; configMap: string; flags: Flag[] };

export interface Hypothesis {
  /** `namespace/Kind/name` */
  entity: string;
  /** The application service that it breaks, for the propagation chain. */
  component: string;
  condition: string;
  evidence: string;
  /** Larger is more certain; from 1 on it is a cause of its own. */
  weight: number;
  remedy: Remedy;
}

type Rule = (evidence: Evidence) => Hypothesis[];

/** All hypotheses, most certain first; equal weights keep the rules' order. */
export function hypotheses(evidence: Evidence): Hypothesis[] {
  const found = RULES.flatMap((rule) => rule(evidence));
  const best = new Map<string, Hypothesis>();
  for (const candidate of found) {
    const one = blamed(evidence, candidate) ? { ...candidate, weight: candidate.weight + BLAME } : candidate;
    const known = best.get(one.entity);
    if (!known || known.weight < one.weight) best.set(one.entity, one);
  }
  return [...best.values()].sort((a, b) => b.weight - a.weight);
}

/** What it adds to a hypothesis that failed traces end at its component. */
const BLAME = 0.5;

/** Whether failed traces end at the component of a hypothesis. */
export function blamed(evidence: Evidence, hypothesis: Hypothesis): boolean {
  return evidence.failures.some(({ path, peer }) => hypothesis.component === (peer ?? path.at(-1)));
}

const entity = (evidence: Evidence, kind: string, name: string) => `${evidence.namespace}/${kind}/${name}`;

const scaledToZero: Rule = (evidence) =>
  evidence.workloads
    .filter((workload) => workload.replicas === 0)
    .map((workload) => ({
      entity: entity(evidence, workload.kind, workload.name),
      component: workload.name,
      condition: `${workload.kind} ${workload.name} is scaled to 0 replicas`,
      evidence: "spec.replicas is 0 and no pod of it runs",
      weight: 3,
      remedy: { kind: "scale", workload, replicas: 1 },
    }));

const BROKEN_POD =
  /^(Init:)?(ImagePullBackOff|ErrImagePull|InvalidImageName|CrashLoopBackOff|RunContainerError|CreateContainer(Config)?Error|StartError|Error|OOMKilled|ContainerCannotRun)$/;

/** A pod that cannot start or keep running speaks against its workload's template, unless it waits for another one. */
const brokenPods: Rule = (evidence) =>
  evidence.workloads.flatMap((workload) => {
    const pod = podsOf(evidence, workload).find((row) => BROKEN_POD.test(row.status) || row.restarts >= 3);
    if (!pod) return [];
    const said = evidence.warnings.filter((row) => row.kind === "Pod" && row.name === pod.name);
    const startFailure = /ImagePull|InvalidImage|RunContainer|CreateContainer|StartError|CannotRun/.test(
      `${pod.status} ${said.map((row) => `${row.reason} ${row.message}`).join(" ")}`,
    );
    const wrongAddress = badAddresses(evidence, workload)[0];
    const upstream = wrongAddress ? undefined : brokenDependency(evidence, workload);
    return [
      {
        entity: entity(evidence, workload.kind, workload.name),
        component: workload.name,
        condition: wrongAddress ?? `pods of ${workload.kind} ${workload.name} are in ${pod.status}`,
        evidence:
          `pod ${pod.name}: ${pod.status}, ${pod.restarts} restarts${said.map((row) => `; ${row.reason}: ${row.message}`).join("")}`.slice(
            0,
            600,
          ),
        weight: startFailure || wrongAddress ? 3 : upstream ? 0.4 : 2,
        remedy: { kind: "undo", workload },
      },
    ];
  });

/** Pods that no node takes, or that never become ready. */
const pendingPods: Rule = (evidence) =>
  evidence.workloads.flatMap((workload) => {
    const pod = podsOf(evidence, workload).find(
      (row) =>
        /^(Pending|ContainerCreating|Init:|PodInitializing)/.test(row.status) ||
        (row.status === "Running" && isUnready(row)),
    );
    if (!pod || BROKEN_POD.test(pod.status)) return [];
    const said = evidence.warnings.filter((row) => row.kind === "Pod" && row.name === pod.name);
    if (said.length === 0) return [];
    return [
      {
        entity: entity(evidence, workload.kind, workload.name),
        component: workload.name,
        condition: `pods of ${workload.kind} ${workload.name} stay in ${pod.status}`,
        evidence: `pod ${pod.name}: ${said.map((row) => `${row.reason}: ${row.message}`).join("; ")}`.slice(0, 600),
        weight: brokenDependency(evidence, workload) ? 0.3 : 1.5,
        remedy: { kind: "undo", workload },
      },
    ];
  });

/** A Service with target ports on which no container behind it listens. */
const wrongTargetPort: Rule = (evidence) =>
  evidence.services.flatMap((service) => {
    const workload = workloadOf(evidence, service);
    if (!workload || workload.ports.length === 0) return [];
    const wrong = service.ports.flatMap((port) => {
      const target = port.targetPort ?? port.port;
      if (workload.ports.some((one) => one.containerPort === target || one.name === target)) return [];
      const right = intendedPort(workload, service, port);
      return right === undefined ? [] : [{ port: port.port, target, targetPort: right }];
    });
    if (wrong.length === 0) return [];
    const pairs = wrong.map(({ port, target }) => `port ${port} to target port ${target}`).join(", ");
    return [
      {
        entity: entity(evidence, "Service", service.name),
        component: service.name,
        condition: `Service ${service.name} sends ${pairs}, on which no container of ${workload.name} listens`,
        evidence: `containers of ${workload.name} declare ${workload.ports.map((one) => one.containerPort).join(", ")}`,
        weight: 3,
        remedy: {
          kind: "target-ports" as const,
          service,
          ports: wrong.map(({ port, targetPort }) => ({ port, targetPort })),
        },
      },
    ];
  });

/** A Service whose selector finds no pod although a workload of its name runs. */
const wrongSelector: Rule = (evidence) =>
  evidence.services.flatMap((service) => {
    if (service.endpoints > 0 || Object.keys(service.selector).length === 0 || workloadOf(evidence, service)) return [];
    const workload = evidence.workloads.find((one) => one.name === service.name);
    if (!workload) return [];
    return [
      {
        entity: entity(evidence, "Service", service.name),
        component: service.name,
        condition: `the selector of Service ${service.name} matches no pod`,
        evidence: `selector ${JSON.stringify(service.selector)}; pods of ${workload.name} carry ${JSON.stringify(workload.selector)}`,
        weight: 3,
        remedy: { kind: "selector", service, selector: workload.selector },
      },
    ];
  });

/** Several workloads call an address that no Service answers to. */
const missingService: Rule = (evidence) => {
  const wanted = new Map<string, { ports: Set<number>; callers: Set<string> }>();
  for (const workload of evidence.workloads) {
    for (const { host, port } of addresses(workload)) {
      if (evidence.services.some((service) => service.name === host)) continue;
      const target = evidence.workloads.find((one) => one.name === host);
      if (!target || port === undefined) continue;
      const entry = wanted.get(host) ?? { ports: new Set(), callers: new Set() };
      entry.ports.add(port);
      entry.callers.add(workload.name);
      wanted.set(host, entry);
    }
  }
  return [...wanted].map(([name, { ports, callers }]) => {
    const target = evidence.workloads.find((one) => one.name === name)!;
    return {
      entity: entity(evidence, "Service", name),
      component: name,
      condition: `Service ${name} does not exist, though ${[...callers].sort().join(", ")} call it`,
      evidence: `no Service of that name in ${evidence.namespace}; ${target.kind} ${name} runs ${target.ready} ready pods`,
      weight: 3,
      remedy: {
        kind: "create-service" as const,
        name,
        selector: target.selector,
        ports: [...ports].sort((a, b) => a - b).map((port) => ({ port, targetPort: mainPort(target, port) })),
      },
    };
  });
};

/** An address in a workload's environment whose host or port nothing offers, while the workload itself seems to run. */
const wrongAddress: Rule = (evidence) =>
  evidence.workloads.flatMap((workload) => {
    const [condition] = badAddresses(evidence, workload);
    if (!condition) return [];
    return [
      {
        entity: entity(evidence, workload.kind, workload.name),
        component: workload.name,
        condition,
        evidence: "the address in its environment is not one that a Service of the namespace offers",
        weight: 2.5,
        remedy: { kind: "undo", workload },
      },
    ];
  });

/** All flags of one ConfigMap are one cause: it is one object that has to be changed. */
const harmfulFlags: Rule = (evidence) => {
  const maps = [...new Set(evidence.flags.map((flag) => flag.configMap))];
  return maps.map((configMap) => {
    const flags = evidence.flags.filter((flag) => flag.configMap === configMap);
    return {
      entity: entity(evidence, "ConfigMap", configMap),
      component: flagComponent(evidence, flags[0]!) ?? configMap,
      condition: flags.map((flag) => `feature flag ${flag.name} is ${flag.variant} (${flag.description})`).join("; "),
      evidence: flags
        .map((flag) => `key ${flag.key}: ${flag.name} has defaultVariant ${flag.variant}, not off`)
        .join("; "),
      weight: 2.2,
      remedy: { kind: "flags" as const, configMap, flags },
    };
  });
};

/** Where failed traces end, when nothing in the specifications says why: the last one that was called, or that failed. */
const failingService: Rule = (evidence) => {
  const counts = new Map<string, { count: number; message: string }>();
  for (const { path, peer, message } of evidence.failures) {
    const known = (name: string | undefined) => evidence.workloads.some((workload) => workload.name === name);
    const name = known(peer) ? peer! : path.at(-1)!;
    if (!known(name)) continue;
    const { count = 0 } = counts.get(name) ?? {};
    counts.set(name, { count: count + 1, message });
  }
  return [...counts].map(([name, { count, message }]) => {
    const workload = evidence.workloads.find((one) => one.name === name)!;
    return {
      entity: entity(evidence, workload.kind, name),
      component: name,
      condition: `requests that need ${name} fail, though its specification shows nothing wrong`,
      evidence: `${count} kinds of failed traces end at ${name}${message ? `: ${message}` : ""}`.slice(0, 600),
      weight: 0.2,
      remedy: { kind: "undo" as const, workload },
    };
  });
};

const RULES: Rule[] = [
  scaledToZero,
  brokenPods,
  wrongTargetPort,
  wrongSelector,
  missingService,
  wrongAddress,
  harmfulFlags,
  pendingPods,
  failingService,
];

function podsOf(evidence: Evidence, workload: Workload): PodRow[] {
  const pattern = new RegExp(`^${escapeRegex(workload.name)}(-[a-z0-9]{1,10}-[a-z0-9]{5}|-\\d+)$`);
  return evidence.pods.filter((pod) => pattern.test(pod.name));
}

function isUnready(pod: PodRow): boolean {
  const [ready, all] = pod.ready.split("/");
  return ready !== all;
}

/** The workload whose pods a Service selects: all of its selector stands among the labels the workload's pods must have. */
function workloadOf(evidence: Evidence, service: ServiceRow): Workload | undefined {
  const wanted = Object.entries(service.selector);
  if (wanted.length === 0) return undefined;
  return evidence.workloads.find((workload) => wanted.every(([key, value]) => workload.selector[key] === value));
}

/** The port that was meant: the only one left, one of the Service port's name, or the main one. */
function intendedPort(workload: Workload, service: ServiceRow, port: ServiceRow["ports"][number]): number | undefined {
  const taken = new Set(
    service.ports.filter((one) => one.port !== port.port).flatMap((one) => [one.targetPort ?? one.port, one.port]),
  );
  const free = workload.ports.filter((one) => !taken.has(one.containerPort) && !(one.name && taken.has(one.name)));
  const same = free.find(
    (one) => one.containerPort === port.port || (one.name !== undefined && one.name === port.name),
  );
  return (same ?? free[0])?.containerPort;
}

function mainPort(workload: Workload, port: number): number {
  const same = workload.ports.find((one) => one.containerPort === port);
  const named = workload.ports.find((one) => one.name && !/metrics|prometheus|admin/.test(one.name));
  return (same ?? named ?? workload.ports[0])?.containerPort ?? port;
}

/** Sentences about addresses that contradict the Services: a known host with a port that it does not offer, or an unknown host that nothing else explains. */
function badAddresses(evidence: Evidence, workload: Workload): string[] {
  const offered = (host: string) => evidence.services.find((service) => service.name === host);
  return addresses(workload).flatMap(({ variable, host, port }) => {
    const service = offered(host);
    if (service && port !== undefined && !service.ports.some((one) => one.port === port)) {
      return [
        `${variable} of ${workload.name} points to ${host}:${port}, but Service ${host} offers ${service.ports.map((one) => one.port).join(", ")}`,
      ];
    }
    if (
      !service &&
      port !== undefined &&
      /_ADDR$/.test(variable) &&
      !evidence.workloads.some((one) => one.name === host)
    ) {
      return [`${variable} of ${workload.name} points to ${host}:${port}, and no Service has that name`];
    }
    return [];
  });
}

/** A dependency of `workload` that is itself down, by the addresses in its environment. */
function brokenDependency(evidence: Evidence, workload: Workload): string | undefined {
  return addresses(workload).find(({ host }) => {
    const other = evidence.workloads.find((one) => one.name === host);
    return other !== undefined && other.name !== workload.name && other.ready === 0;
  })?.host;
}

/** The service that a flag speaks of: the longest workload name that its own name begins with. */
function flagComponent(evidence: Evidence, flag: Flag): string | undefined {
  const words = flag.name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
  return evidence.workloads
    .map((workload) => workload.name)
    .filter((name) => words === name || words.startsWith(`${name}-`))
    .sort((a, b) => b.length - a.length)[0];
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
