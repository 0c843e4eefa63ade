/** Builds the graph of a cluster's objects: owners, selectors, mounts, routes, and addresses in configuration. */
import { type ClusterReader, entityName, type KubeObject, selects } from "../cluster.js";
import { plural } from "../render/text.js";
import { type Address, addressesIn, expandVariables, siblingPort } from "./addresses.js";
import { Graph } from "./graph.js";

const WORKLOADS = ["deployments", "statefulsets", "daemonsets", "cronjobs", "jobs", "replicasets", "pods"];
const NETWORK = ["services", "ingresses", "httproutes", "grpcroutes", "virtualservices", "destinationrules"];
const POLICIES = ["networkpolicies", "horizontalpodautoscalers", "poddisruptionbudgets", "authorizationpolicies"];
const STORES = ["configmaps", "secrets", "persistentvolumeclaims", "serviceaccounts"];

export interface Built {
  graph: Graph;
  /** Workloads and Services, from which traced names are told. */
  named: KubeObject[];
}

/** Reads what the graph is made of, in all of `namespaces`, and builds it. */
export async function buildGraph(cluster: ClusterReader, namespaces: readonly string[]): Promise<Built> {
  const graph = new Graph();
  const objects: KubeObject[] = [];
  const kinds = [...WORKLOADS, ...NETWORK, ...POLICIES, ...STORES];
  for (const namespace of namespaces) {
    for (const list of await Promise.all(kinds.map((kind) => cluster.list(kind, namespace)))) objects.push(...list);
  }
  const byUid = new Map(objects.map((one) => [one.metadata.uid, one]));
  for (const object of objects) graph.entity(entityName(object), about(object));
  for (const object of objects) {
    for (const owner of object.metadata.ownerReferences ?? []) {
      const found = byUid.get(owner.uid);
      if (found !== undefined) graph.edge(entityName(found), "owns", entityName(object));
    }
  }
  const index = new Index(objects, new Set(cluster.unread.keys()));
  for (const object of objects) {
    if (templateOf(object) !== undefined) addTemplate(graph, object, index);
    addSelection(graph, object, index);
    addRoutes(graph, object, index);
  }
  return { graph, named: [...index.heads, ...objects.filter((one) => one.kind === "Service")] };
}

/** Finds objects by kind, namespace and name, and those that selectors choose from. */
export class Index {
  readonly #byName = new Map<string, KubeObject>();
  /** What makes pods: workloads without an owner, and pods without one. */
  readonly heads: readonly KubeObject[];
  /** Kinds of which nothing is known: they could not be read. */
  readonly #unread: ReadonlySet<string>;

  constructor(objects: readonly KubeObject[], unread: ReadonlySet<string>) {
    this.#unread = unread;
    for (const object of objects) this.#byName.set(entityName(object), object);
    this.heads = objects.filter(
      (one) => templateOf(one) !== undefined && !(one.metadata.ownerReferences ?? []).some((o: any) => o.controller),
    );
  }

  get(namespace: string, kind: string, name: string): KubeObject | undefined {
    return this.#byName.get(`${namespace}/${kind}/${name}`);
  }

  /** Is it known that there is no such object? */
  missing(namespace: string, kind: string, name: string): boolean {
    return this.get(namespace, kind, name) === undefined && !this.#unread.has(`${kind.toLowerCase()}s`);
  }
}

/** The pod that a workload makes, or is. */
function templateOf(object: KubeObject): { metadata?: any; spec: any } | undefined {
  if (object.kind === "Pod") return { metadata: object.metadata, spec: object.spec ?? {} };
  if (object.kind === "CronJob") return object.spec?.jobTemplate?.spec?.template;
  return ["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"].includes(object.kind)
    ? object.spec?.template
    : undefined;
}

function about(object: KubeObject): string {
  const { spec = {}, status = {} } = object;
  switch (object.kind) {
    case "Deployment":
    case "StatefulSet":
    case "ReplicaSet":
      return `${status.readyReplicas ?? 0}/${spec.replicas ?? 1} ready`;
    case "DaemonSet":
      return `${status.numberReady ?? 0}/${status.desiredNumberScheduled ?? 0} ready`;
    case "Pod": {
      const containers: any[] = status.containerStatuses ?? [];
      const waiting = containers.map((one) => one.state?.waiting?.reason).find((reason) => reason !== undefined);
      return `${waiting ?? status.phase ?? "?"}, ${containers.filter((one) => one.ready).length}/${(spec.containers ?? []).length} ready`;
    }
    case "Service":
      return `${spec.type === "ExternalName" ? `to ${spec.externalName}` : `port ${ports(object)}`}`;
    case "PersistentVolumeClaim":
      return status.phase ?? "";
    default:
      return "";
  }
}

function ports(service: KubeObject): string {
  const all = (service.spec?.ports ?? []).map((one: any) => {
    const target = one.targetPort ?? one.port;
    return String(target) === String(one.port) ? `${one.port}` : `${one.port}->${target}`;
  });
  return all.length === 0 ? "none" : all.join(", ");
}

/** What a workload's pods use, run on, and are told to reach. */
function addTemplate(graph: Graph, object: KubeObject, index: Index): void {
  const template = templateOf(object)!;
  const { namespace } = object.metadata;
  const name = entityName(object);
  const { spec = {} } = template;
  if (object.kind === "Pod" && spec.nodeName) graph.edge(name, "runs on", `/Node/${spec.nodeName}`);
  // What a controller made repeats what stands in the controller.
  if (!index.heads.includes(object)) return;
  const use = (kind: string, target: string | undefined, how: string, optional?: boolean) => {
    if (target === undefined) return;
    graph.edge(name, "uses", `${namespace}/${kind}/${target}`, how);
    if (index.missing(namespace, kind, target) && optional !== true && kind !== "ServiceAccount") {
      graph.remark(name, `${how} ${kind} ${target}, which does not exist`);
    }
  };
  for (const volume of spec.volumes ?? []) {
    for (const source of [volume, ...(volume.projected?.sources ?? [])]) {
      use("ConfigMap", source.configMap?.name, "mounts", source.configMap?.optional);
      use("Secret", source.secret?.secretName ?? source.secret?.name, "mounts", source.secret?.optional);
    }
    use("PersistentVolumeClaim", volume.persistentVolumeClaim?.claimName, "mounts");
  }
  if (spec.serviceAccountName && spec.serviceAccountName !== "default") {
    use("ServiceAccount", spec.serviceAccountName, "runs as");
  }
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const values = new Map<string, string>();
    for (const source of container.envFrom ?? []) {
      use("ConfigMap", source.configMapRef?.name, "environment from", source.configMapRef?.optional);
      use("Secret", source.secretRef?.name, "environment from", source.secretRef?.optional);
      const data = index.get(namespace, "ConfigMap", source.configMapRef?.name)?.data ?? {};
      for (const [key, value] of Object.entries(data)) values.set(`${source.prefix ?? ""}${key}`, String(value));
    }
    for (const { name: key, value, valueFrom } of container.env ?? []) {
      const map = valueFrom?.configMapKeyRef;
      use("ConfigMap", map?.name, "environment from", map?.optional);
      use("Secret", valueFrom?.secretKeyRef?.name, "environment from", valueFrom?.secretKeyRef?.optional);
      const text = value ?? index.get(namespace, "ConfigMap", map?.name)?.data?.[map?.key];
      if (text !== undefined) values.set(key, expandVariables(String(text), values));
    }
    for (const [key, value] of values) {
      for (const address of addressesIn(key, value, siblingPort(key, values))) {
        addAddress(graph, name, namespace, address, `${key}=${shown(value)}`, index, true);
      }
    }
    for (const word of [...(container.command ?? []), ...(container.args ?? [])]) {
      for (const address of addressesIn("", expandVariables(String(word), values))) {
        // A script is full of words with colons: only what exists is taken for an address.
        addAddress(graph, name, namespace, address, `argument ${shown(address.text)}`, index, false);
      }
    }
  }
  for (const edge of graph.from(name).filter((one) => one.relation === "uses" && one.detail === "mounts")) {
    const [, kind, target] = edge.to.split("/") as [string, string, string];
    if (kind !== "ConfigMap") continue;
    for (const [key, value] of Object.entries(index.get(namespace, kind, target)?.data ?? {})) {
      for (const address of addressesIn(key, String(value))) {
        addAddress(graph, name, namespace, address, `${target} ${key}: ${shown(address.text)}`, index, false);
      }
    }
  }
}

function shown(value: string): string {
  const flat = value.replace(/\s+/g, " ").replace(/:\/\/[^\s/@]*@/g, "://<masked>@");
  return flat.length > 80 ? `${[...flat].slice(0, 77).join("")}...` : flat;
}

/** @param strict whether an address of no Service is worth a remark */
function addAddress(
  graph: Graph,
  from: string,
  own: string,
  address: Address,
  detail: string,
  index: Index,
  strict: boolean,
): void {
  const namespace = address.namespace ?? own;
  const service = index.get(namespace, "Service", address.host);
  if (service === undefined) {
    if (!index.missing(namespace, "Service", address.host)) return;
    const known = index.heads.some((one) => one.metadata.namespace === namespace);
    if (strict && known) graph.remark(from, `${detail}: there is no Service ${namespace}/${address.host}`);
    return;
  }
  graph.edge(from, "configured", entityName(service), detail);
  const offered: number[] = (service.spec?.ports ?? []).map((one: any) => one.port);
  if (address.port !== undefined && offered.length > 0 && !offered.includes(address.port)) {
    graph.remark(
      from,
      `${detail}: Service ${address.host} has no port ${address.port}; its ports: ${offered.join(", ")}`,
    );
  }
}

/** What Services, policies, budgets and autoscalers apply to. */
function addSelection(graph: Graph, object: KubeObject, index: Index): void {
  const name = entityName(object);
  const { namespace } = object.metadata;
  const { spec = {} } = object;
  if (object.kind === "HorizontalPodAutoscaler") {
    const { kind, name: target } = spec.scaleTargetRef ?? {};
    if (index.get(namespace, kind, target) === undefined)
      graph.remark(name, `scales ${kind} ${target}, which does not exist`);
    graph.edge(
      name,
      "selects",
      `${namespace}/${kind}/${target}`,
      `${spec.minReplicas ?? 1} to ${spec.maxReplicas} replicas`,
    );
    return;
  }
  const selector = {
    Service: spec.selector,
    NetworkPolicy: spec.podSelector,
    PodDisruptionBudget: spec.selector,
    AuthorizationPolicy: spec.selector,
  }[object.kind as string];
  if (selector === undefined || selector === null) return;
  const all =
    object.kind !== "Service" && Object.keys(selector.matchLabels ?? {}).length === 0 && !selector.matchExpressions;
  const chosen = index.heads.filter((one) => {
    if (one.metadata.namespace !== namespace) return false;
    return all || selects(selector, templateOf(one)?.metadata?.labels);
  });
  for (const one of chosen) graph.edge(name, "selects", entityName(one));
  if (chosen.length === 0 && object.kind === "Service") {
    const labels = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
    graph.remark(name, `its selector ${labels.join(",")} fits no workload's pods`);
  }
  if (object.kind === "Service") checkPorts(graph, object, chosen);
}

/** A Service's target port that no container of what it selects declares. */
function checkPorts(graph: Graph, service: KubeObject, workloads: readonly KubeObject[]): void {
  for (const workload of workloads) {
    const declared = (templateOf(workload)?.spec?.containers ?? []).flatMap((one: any) => one.ports ?? []);
    if (declared.length === 0) continue;
    for (const port of service.spec?.ports ?? []) {
      const target = port.targetPort ?? port.port;
      const fits = declared.some((one: any) => one.containerPort === target || one.name === target);
      if (fits) continue;
      const names = declared.map((one: any) => (one.name ? `${one.containerPort} (${one.name})` : one.containerPort));
      graph.remark(
        entityName(service),
        `target port ${target} is not among those that ${workload.kind} ${workload.metadata.name} declares: ${names.join(", ")}`,
      );
    }
  }
}

/** Ingresses, Gateway API routes, and Istio's routes and rules. */
function addRoutes(graph: Graph, object: KubeObject, index: Index): void {
  const name = entityName(object);
  const { namespace } = object.metadata;
  const { spec = {} } = object;
  const targets: { host: string; detail?: string }[] = [];
  if (object.kind === "Ingress") {
    const backends = [
      spec.defaultBackend,
      ...(spec.rules ?? []).flatMap((rule: any) => (rule.http?.paths ?? []).map((path: any) => path.backend)),
    ];
    for (const one of backends) if (one?.service?.name) targets.push({ host: one.service.name });
  } else if (object.kind === "HTTPRoute" || object.kind === "GRPCRoute") {
    for (const rule of spec.rules ?? []) {
      for (const one of rule.backendRefs ?? []) {
        targets.push({ host: one.namespace ? `${one.name}.${one.namespace}` : one.name, detail: weight(one.weight) });
      }
    }
  } else if (object.kind === "VirtualService") {
    for (const host of spec.hosts ?? []) targets.push({ host, detail: "host" });
    for (const rule of [...(spec.http ?? []), ...(spec.tcp ?? []), ...(spec.tls ?? [])]) {
      const fault = rule.fault === undefined ? "" : ` with a fault (${Object.keys(rule.fault).join(", ")})`;
      for (const one of rule.route ?? []) {
        targets.push({ host: one.destination?.host ?? "", detail: `${weight(one.weight)}${fault}` });
      }
    }
  } else if (object.kind === "DestinationRule") targets.push({ host: spec.host ?? "" });
  for (const { host, detail } of targets) {
    const [service = "", other] = host.split(".");
    const found = index.get(other ?? namespace, "Service", service);
    if (found !== undefined) graph.edge(name, "routes", entityName(found), detail || undefined);
    else if (service !== "" && service !== "*") graph.remark(name, `routes to ${host}, of which there is no Service`);
  }
}

function weight(value: number | undefined): string {
  return value === undefined ? "" : `weight ${value}`;
}

export interface TracedCall {
  parent: string;
  child: string;
  callCount: number;
}

const TELLING_LABELS = ["app.kubernetes.io/component", "app.kubernetes.io/name", "app", "service"];

/** Names under which a workload may send traces: what its environment says, its own name, its labels. */
function tracedNames(workload: KubeObject): string[] {
  const template = templateOf(workload);
  const labels = template?.metadata?.labels ?? {};
  const names: string[] = [];
  for (const container of template?.spec?.containers ?? []) {
    const set = (container.env ?? []).find((one: any) => one.name === "OTEL_SERVICE_NAME");
    const label = /^metadata\.labels\['(.+)'\]$/.exec(set?.valueFrom?.fieldRef?.fieldPath ?? "")?.[1];
    const name = set?.value ?? (label === undefined ? undefined : labels[label]);
    if (name) names.push(name);
  }
  names.push(workload.metadata.name);
  for (const label of TELLING_LABELS) if (labels[label]) names.push(labels[label]);
  return names;
}

/**
 * Adds calls that traces show. Traces name services, clusters name objects: a traced service is the workload whose
 * environment, name or labels say so; a callee is the Service of that name, where there is one.
 *
 * @returns traced services that are no object of the cluster
 */
export function addCalls(graph: Graph, calls: readonly TracedCall[], objects: Iterable<KubeObject>): string[] {
  const workloads = new Map<string, string>();
  const services = new Map<string, string>();
  const ranked: [number, string, string][] = [];
  for (const object of objects) {
    if (object.kind === "Service") services.set(object.metadata.name, entityName(object));
    else ranked.push(...tracedNames(object).map((name, i): [number, string, string] => [i, name, entityName(object)]));
  }
  for (const [, name, entity] of ranked.sort((a, b) => a[0] - b[0])) {
    if (!workloads.has(name)) workloads.set(name, entity);
  }
  const unplaced = new Set<string>();
  const place = (service: string, order: readonly ReadonlyMap<string, string>[]) => {
    // A mesh names its services with their namespace: `reviews.bookinfo`.
    for (const name of [service, service.split(".")[0]!]) {
      for (const map of order) if (map.has(name)) return map.get(name)!;
    }
    unplaced.add(service);
    return `/Traced/${service}`;
  };
  for (const { parent, child, callCount } of calls) {
    const from = place(parent, [workloads, services]);
    graph.edge(from, "calls", place(child, [services, workloads]), plural(callCount, "call"));
  }
  return [...unplaced].sort();
}
