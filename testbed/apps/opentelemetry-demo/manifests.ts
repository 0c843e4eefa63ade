/** Turns the component table into the objects that the demo's chart would install. */
import { readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { packageFile } from "../../../paths.js";
import type { KubeObject } from "../../kube/objects.js";
import type { DemoArguments } from "./arguments.js";

export const NAMESPACE = "otel-demo";
const VERSION = "3.0.0";
const IMAGES = "ghcr.io/open-telemetry/demo";

/** A row of components.yaml. */
interface Component {
  name: string;
  image?: string;
  criticality?: string;
  memory: string;
  command?: string[];
  ports?: Record<string, number>;
  service?: Record<string, number>;
  target?: Record<string, number>;
  security?: Record<string, unknown>;
  /** `host:port` that an init container waits for. */
  waitFor?: string;
  env?: Record<string, string>;
  /** A ConfigMap mounted as a folder, or as one file of it. */
  configFiles?: { name: string; mountPath: string; file?: string };
  /** A writable /tmp beside a read-only file system. */
  scratch?: boolean;
  /** flagd: the flags' ConfigMap, copied at start, and the flags' user interface as a second container. */
  flags?: boolean;
}

interface Flag {
  about: string;
  default?: string;
  variants: Record<string, boolean | number>;
}

function file(name: string): string {
  return readFileSync(packageFile("testbed", "apps", "opentelemetry-demo", name), "utf8");
}

interface Sources {
  components: Component[];
  flags: Record<string, Flag>;
  observability: KubeObject[];
}
let parsed: Sources | undefined;

/** The data files, parsed once; each caller gets its own copy. */
function sources(): Sources {
  parsed ??= {
    components: parse(file("components.yaml")),
    flags: parse(file("flags.yaml")),
    observability: parseAllDocuments(file("observability.yaml")).map((document) => document.toJS()),
  };
  return structuredClone(parsed);
}

/** Every object of the demo, namespace first, as its chart would install them with these arguments. */
export function demoManifests(args: DemoArguments): KubeObject[] {
  const { components, observability } = sources();
  const load = args.loadGeneration;
  for (const component of components) {
    if (component.name !== "load-generator") continue;
    component.env = {
      ...component.env,
      LOAD_GENERATOR_VUS: String(load.users),
      LOAD_GENERATOR_SPAWN_RATE: String(load.userSpawnRate),
      K6_BROWSER_ENABLED: String(load.browserTraffic),
    };
  }
  const objects: KubeObject[] = [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "example", labels: partOf() } },
    configMap("flagd-config", { "demo.flagd.json": flagFile(load.users) }),
    configMap("postgresql-init", { "init.sql": file("database.sql") }),
    configMap("product-catalog-product-catalog-otel-config", { "otel-config.yml": otelConfig() }),
    configMap("agent-fixtures", { "recorded-answers.yaml": "interactions: []\n" }),
    ...observability,
    ...components.filter((component) => component.service !== undefined).map(service),
    ...components.map(deployment),
    ...(args.autoscaling.kubernetes.hpa ? components.filter(scales).map(autoscaler) : []),
  ];
  for (const object of objects) object.metadata.namespace = NAMESPACE;
  return [{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }, ...objects];
}

/** The text of flagd's file: every flag at its default; the load generator's users as asked for. */
export function flagFile(users: number): string {
  const entries = Object.entries(sources().flags).map(([name, flag]) => {
    const variants = { ...flag.variants };
    let defaultVariant = flag.default ?? "off";
    if (name === "loadGeneratorVUs") {
      variants[String(users)] = users;
      defaultVariant = String(users);
    }
    return [name, { description: flag.about, state: "ENABLED", variants, defaultVariant }];
  });
  const content = { $schema: "https://flagd.dev/schema/v0/flags.json", flags: Object.fromEntries(entries) };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

function partOf(): Record<string, string> {
  return {
    "helm.sh/chart": "opentelemetry-demo-0.41.0",
    "app.kubernetes.io/version": VERSION,
    "app.kubernetes.io/part-of": "opentelemetry-demo",
    "app.kubernetes.io/managed-by": "Helm",
  };
}

function componentLabels(name: string): Record<string, string> {
  return {
    ...partOf(),
    "opentelemetry.io/name": name,
    "app.kubernetes.io/component": name,
    "app.kubernetes.io/name": name,
  };
}

function configMap(name: string, data: Record<string, string>): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: partOf() }, data };
}

function service(component: Component): KubeObject {
  const ports = Object.entries(component.service ?? {});
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: component.name, labels: componentLabels(component.name) },
    spec: {
      type: "ClusterIP",
      selector: { "opentelemetry.io/name": component.name },
      ports: ports.map(([name, port]) => ({ name, port, targetPort: component.target?.[name] ?? port })),
    },
  };
}

function deployment(component: Component): KubeObject {
  const { name } = component;
  const labels = componentLabels(name);
  const volumes: Record<string, unknown>[] = [];
  const mounts: Record<string, unknown>[] = [];
  const config = component.configFiles;
  if (config !== undefined) {
    volumes.push({ name: config.name, configMap: { name: config.name } });
    mounts.push({
      name: config.name,
      mountPath: config.mountPath,
      ...(config.file === undefined ? {} : { subPath: config.file }),
    });
  }
  if (component.scratch) {
    volumes.push({ name: "tmp", emptyDir: {} });
    mounts.push({ name: "tmp", mountPath: "/tmp" });
  }
  const container: Record<string, unknown> = {
    name,
    image: component.image ?? `${IMAGES}:${VERSION}-${name}`,
    imagePullPolicy: "IfNotPresent",
    ...(component.command === undefined ? {} : { command: component.command }),
    ...(component.ports === undefined ? {} : { ports: containerPorts(component.ports) }),
    ...withEnvironment(component),
    resources: { limits: { memory: component.memory } },
    ...(component.security === undefined ? {} : { securityContext: component.security }),
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
  };
  const containers = [container];
  const initContainers: Record<string, unknown>[] = [];
  if (component.waitFor !== undefined) initContainers.push(waiter(component.waitFor));
  if (component.flags) addFlagContainers(container, containers, initContainers, volumes);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels },
    spec: {
      replicas: 1,
      revisionHistoryLimit: 10,
      selector: { matchLabels: { "opentelemetry.io/name": name } },
      template: {
        metadata: {
          labels: {
            "opentelemetry.io/name": name,
            "app.kubernetes.io/version": VERSION,
            "app.kubernetes.io/component": name,
            "app.kubernetes.io/name": name,
            "app.kubernetes.io/part-of": "opentelemetry-demo",
          },
          annotations: { "resource.opentelemetry.io/service.namespace": "opentelemetry-demo" },
        },
        spec: {
          serviceAccountName: "example",
          ...(initContainers.length === 0 ? {} : { initContainers }),
          containers,
          ...(volumes.length === 0 ? {} : { volumes }),
        },
      },
    },
  };
}

function containerPorts(ports: Record<string, number>): Record<string, unknown>[] {
  return Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort }));
}

/** `env` of a component; those with OpenTelemetry settings get the four variables that all of them share. */
function withEnvironment(component: Pick<Component, "criticality" | "env">): Record<string, unknown> {
  const own = Object.entries(component.env ?? {}).map(([name, value]) => ({ name, value }));
  if (component.criticality === undefined) return own.length === 0 ? {} : { env: own };
  const label = { apiVersion: "v1", fieldPath: "metadata.labels['app.kubernetes.io/component']" };
  const attributes = [`service.version=${VERSION}`];
  if (component.criticality !== "") attributes.push(`service.criticality=${component.criticality}`);
  return {
    env: [
      { name: "OTEL_SERVICE_NAME", valueFrom: { fieldRef: label } },
      { name: "OTEL_COLLECTOR_NAME", value: "otel-collector" },
      { name: "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", value: "cumulative" },
      ...own,
      { name: "OTEL_RESOURCE_ATTRIBUTES", value: attributes.join(",") },
    ],
  };
}

function waiter(address: string): Record<string, unknown> {
  const [host, port] = address.split(":");
  return {
    name: `wait-for-${host}`,
    image: "busybox:latest",
    command: ["sh", "-c", `until nc -z -v -w30 ${host} ${port}; do echo waiting for ${host}; sleep 2; done;`],
  };
}

function addFlagContainers(
  flagd: Record<string, unknown>,
  containers: Record<string, unknown>[],
  initContainers: Record<string, unknown>[],
  volumes: Record<string, unknown>[],
): void {
  volumes.push({ name: "config-rw", emptyDir: {} }, { name: "config-ro", configMap: { name: "flagd-config" } });
  flagd.volumeMounts = [{ name: "config-rw", mountPath: "/etc/flagd" }];
  const copy = "cp /config-ro/demo.flagd.json /config-rw/demo.flagd.json && cat /config-rw/demo.flagd.json";
  initContainers.push({
    name: "init-config",
    image: "busybox",
    command: ["sh", "-c", copy],
    volumeMounts: [
      { name: "config-ro", mountPath: "/config-ro" },
      { name: "config-rw", mountPath: "/config-rw" },
    ],
  });
  containers.push({
    name: "flagd-ui",
    image: `${IMAGES}:${VERSION}-flagd-ui`,
    imagePullPolicy: "IfNotPresent",
    ports: [{ name: "service", containerPort: 4000 }],
    ...withEnvironment({
      criticality: "low",
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://$(OTEL_COLLECTOR_NAME):4318",
        FLAGD_UI_PORT: "4000",
        SECRET_KEY_BASE: "simulated-secret-key-base-of-the-flag-user-interface-0000000000000",
        PHX_HOST: "localhost",
      },
    }),
    resources: { limits: { memory: "250Mi" } },
    volumeMounts: [{ name: "config-rw", mountPath: "/app/data" }],
  });
}

/** The SDK's own placeholders, which it fills from the environment. */
function otelConfig(): string {
  const variable = (name: string) => `\${${name}}`;
  const exporter = { otlp_grpc: { endpoint: variable("OTEL_EXPORTER_OTLP_ENDPOINT") } };
  const config = {
    file_format: "1.0",
    tracer_provider: { processors: [{ batch: { exporter } }] },
    meter_provider: { readers: [{ periodic: { exporter } }] },
    logger_provider: { processors: [{ batch: { exporter } }] },
    resource: { attributes_list: variable("OTEL_RESOURCE_ATTRIBUTES") },
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** Stateless services on the users' path: those that an autoscaler may multiply. */
function scales(component: Component): boolean {
  return (component.criticality === "critical" || component.criticality === "high") && component.service !== undefined;
}

function autoscaler(component: Component): KubeObject {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: component.name, labels: componentLabels(component.name) },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: component.name },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        { type: "Resource", resource: { name: "memory", target: { type: "Utilization", averageUtilization: 90 } } },
      ],
    },
  };
}
