/** `kubectl expose` and `kubectl autoscale`. */
import { resourcePath } from "../client/discovery.js";
import type { Context, Verb } from "../context.js";
import { usageError } from "../errors.js";
import { FILENAME, OUTPUT, SELECTOR, WRITING } from "./flag-sets.js";
import { dryRun, eachObject, printOutcome, targetsOf, writeQuery } from "./writing.js";

async function create(context: Context, apiVersion: string, kind: string, body: any, done: string): Promise<void> {
  const resource = await context.discovery.byKind(apiVersion, kind);
  if (!resource) throw usageError(`no matches for kind "${kind}" in version "${apiVersion}"`);
  const object = { apiVersion, kind, ...body };
  const result =
    dryRun(context) === "client"
      ? object
      : await context.client.json({
          method: "POST",
          path: resourcePath(resource, object.metadata.namespace),
          body: object,
          query: writeQuery(context, done === "exposed" ? "kubectl-expose" : "kubectl-autoscale"),
        });
  printOutcome(context, resource, result, done);
}

/** Name and place of the new object; a client-side dry run shows it as it would be sent. */
function place(context: Context, object: any): Record<string, unknown> {
  const name = context.flags.string("name") || object.metadata.name;
  if (dryRun(context) !== "client") return { name, namespace: object.metadata.namespace };
  return { creationTimestamp: null, name, ...(context.namespaceGiven ? { namespace: context.namespace } : {}) };
}

function containerPorts(object: any): { port: number; protocol: string }[] {
  const list: any[] =
    object.kind === "Pod" ? (object.spec?.containers ?? []) : (object.spec?.template?.spec?.containers ?? []);
  if (object.kind === "Service")
    return (object.spec?.ports ?? []).map((p: any) => ({ port: p.port, protocol: p.protocol ?? "TCP" }));
  return list.flatMap((c) =>
    (c.ports ?? []).map((p: any) => ({ port: p.containerPort, protocol: p.protocol ?? "TCP" })),
  );
}

function selectorOf(context: Context, object: any): Record<string, string> {
  const given = context.flags.string("selector");
  if (given) return Object.fromEntries(given.split(",").map((part) => part.split("=") as [string, string]));
  const found =
    object.kind === "Pod"
      ? object.metadata?.labels
      : object.kind === "Service"
        ? object.spec?.selector
        : object.spec?.selector?.matchLabels;
  if (!found || Object.keys(found).length === 0)
    throw usageError(
      `couldn't retrieve selectors via --selector flag or introspection: the ${object.kind.toLowerCase()} has no labels and cannot be exposed`,
    );
  if (object.spec?.selector?.matchExpressions?.length)
    throw usageError('couldn\'t convert expressions - "matchExpressions" to map-based selector format');
  return found;
}

const EXPOSABLE = ["Pod", "Service", "ReplicationController", "Deployment", "ReplicaSet"];

export const expose: Verb = {
  name: ["expose"],
  access: "write",
  flags: {
    ...SELECTOR,
    ...FILENAME,
    ...OUTPUT,
    ...WRITING,
    port: { type: "string" },
    "target-port": { type: "string" },
    name: { type: "string" },
    type: { type: "string" },
    protocol: { type: "string" },
    labels: { type: "string" },
    "cluster-ip": { type: "string" },
    "external-ip": { type: "string" },
    "load-balancer-ip": { type: "string" },
    "session-affinity": { type: "string" },
    "save-config": { type: "bool" },
    overrides: { type: "string" },
  },
  async run(context) {
    const { flags } = context;
    const { found, errors } = await targetsOf(context, context.args);
    await eachObject(context, found, errors, async ({ resource, object }) => {
      if (!EXPOSABLE.includes(object.kind))
        throw usageError(`cannot expose a ${resource.kind}.${resource.group}`.replace(/\.$/, ""));
      const selector = selectorOf(context, object);
      const given = flags.string("port").split(",").filter(Boolean);
      const declared = containerPorts(object);
      if (given.length === 0 && declared.length === 0)
        throw usageError("couldn't find port via --port flag or introspection");
      const chosen =
        given.length > 0
          ? given.map((p) => ({
              port: Number(p),
              protocol: flags.string("protocol") || (declared.find((d) => d.port === Number(p))?.protocol ?? "TCP"),
            }))
          : declared;
      const target = flags.string("target-port");
      const ports = chosen.map((p, i) => ({
        ...(chosen.length > 1 ? { name: `port-${i + 1}` } : {}),
        port: p.port,
        protocol: p.protocol,
        targetPort: target === "" ? p.port : /^\d+$/.test(target) ? Number(target) : target,
      }));
      const labels = flags.string("labels")
        ? Object.fromEntries(
            flags
              .string("labels")
              .split(",")
              .map((part) => part.split("=") as [string, string]),
          )
        : object.metadata?.labels;
      await create(
        context,
        "v1",
        "Service",
        {
          metadata: { ...place(context, object), ...(labels ? { labels } : {}) },
          spec: {
            ports,
            selector,
            ...(flags.string("type") ? { type: flags.string("type") } : {}),
            ...(flags.string("cluster-ip") ? { clusterIP: flags.string("cluster-ip") } : {}),
            ...(flags.string("session-affinity") ? { sessionAffinity: flags.string("session-affinity") } : {}),
          },
          ...(dryRun(context) === "client" ? { status: { loadBalancer: {} } } : {}),
        },
        "exposed",
      );
    });
  },
};

export const autoscale: Verb = {
  name: ["autoscale"],
  access: "write",
  flags: {
    ...SELECTOR,
    ...FILENAME,
    ...OUTPUT,
    ...WRITING,
    min: { type: "int", default: -1 },
    max: { type: "int", default: -1 },
    "cpu-percent": { type: "int", default: -1 },
    name: { type: "string" },
    "save-config": { type: "bool" },
  },
  async run(context) {
    const { flags } = context;
    if (!flags.has("max")) throw usageError('required flag(s) "max" not set');
    if (flags.int("max") < 1)
      throw usageError(`--max=MAXPODS is required and must be at least 1, max: ${flags.int("max")}`);
    if (flags.int("max") < flags.int("min"))
      throw usageError(
        `--max=MAXPODS must be larger or equal to --min=MINPODS, max: ${flags.int("max")}, min: ${flags.int("min")}`,
      );
    const { found, errors } = await targetsOf(context, context.args);
    await eachObject(context, found, errors, async ({ resource, object }) => {
      if (!resource.subresources.includes("scale"))
        throw usageError(`cannot autoscale a ${object.kind}: it has no scale`);
      const cpu = flags.int("cpu-percent");
      await create(
        context,
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        {
          metadata: place(context, object),
          spec: {
            scaleTargetRef: { apiVersion: object.apiVersion, kind: object.kind, name: object.metadata.name },
            maxReplicas: flags.int("max"),
            ...(flags.int("min") > 0 ? { minReplicas: flags.int("min") } : {}),
            ...(cpu >= 0
              ? {
                  metrics: [
                    {
                      type: "Resource",
                      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: cpu } },
                    },
                  ],
                }
              : {}),
          },
        },
        "autoscaled",
      );
    });
  },
};
