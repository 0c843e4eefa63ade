/**
 * Derives testbed/kube/schema/table.json from a real API server's OpenAPI and discovery documents: the facts that the
 * simulated API server needs (fields, types, defaults, list types, merge keys, resources, verbs), without descriptions.
 *
 *     node scripts/build-schema-table.mjs [../shared/data/controlplane/openapi [TARGET]]
 *
 * A field is written as a compact object: t type, f format, r reference, d default, e enum, i items, v values of a map,
 * lt list type, lk list-map keys, mt map type, ps patch strategy, pk patch merge key, n 1 = written as null when unset,
 * o 1 = a zero value is left out (a Go value with omitempty, where others are pointers); z 1 = an empty string is kept.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = process.argv[2] ?? join(root, "../shared/data/controlplane/openapi");
const read = (file) => JSON.parse(readFileSync(join(source, file), "utf8"));

/** Times that are struct values without omitempty in Go: an unset one is written as null. OpenAPI does not tell. */
const NULL_TIMES = {
  "api.core.v1.PodCondition": ["lastProbeTime", "lastTransitionTime"],
  "api.core.v1.NodeCondition": ["lastHeartbeatTime", "lastTransitionTime"],
  "api.core.v1.NamespaceCondition": ["lastTransitionTime"],
  "api.core.v1.ReplicationControllerCondition": ["lastTransitionTime"],
  "api.core.v1.PersistentVolumeClaimCondition": ["lastProbeTime", "lastTransitionTime"],
  "api.core.v1.ContainerStateRunning": ["startedAt"],
  "api.core.v1.ContainerStateTerminated": ["startedAt", "finishedAt"],
  "api.core.v1.Event": ["firstTimestamp", "lastTimestamp", "eventTime"],
  "api.core.v1.EventSeries": ["lastObservedTime"],
  "api.events.v1.Event": ["eventTime", "deprecatedFirstTimestamp", "deprecatedLastTimestamp"],
  "api.apps.v1.DeploymentCondition": ["lastUpdateTime", "lastTransitionTime"],
  "api.apps.v1.ReplicaSetCondition": ["lastTransitionTime"],
  "api.apps.v1.StatefulSetCondition": ["lastTransitionTime"],
  "api.apps.v1.DaemonSetCondition": ["lastTransitionTime"],
  "api.batch.v1.JobCondition": ["lastProbeTime", "lastTransitionTime"],
  "api.autoscaling.v2.HorizontalPodAutoscalerCondition": ["lastTransitionTime"],
  "apimachinery.pkg.apis.meta.v1.Condition": ["lastTransitionTime"],
  "apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition": ["lastTransitionTime"],
};

/** Numbers and booleans that are values with omitempty in Go, so that 0 and false are not written; the rest are pointers. */
const OMIT_ZERO = new Set(
  `sizeBytes hostPort signal minReadySeconds numberAvailable numberUnavailable observedGeneration updatedNumberScheduled
   availableReplicas readyReplicas unavailableReplicas updatedReplicas count deprecatedCount currentReplicas fullyLabeledReplicas
   active failed succeeded initialDelaySeconds periodSeconds timeoutSeconds successThreshold failureThreshold nodePort
   healthCheckNodePort number matchingPrecedence handSize queueLengthLimit queues generation readOnly stdin stdinOnce tty paused
   hostIPC hostNetwork hostPID unschedulable publishNotReadyAddresses globalDefault chapAuthDiscovery chapAuthSession sslEnabled
   denied authenticated DeploymentStatus.replicas`.split(/\s+/),
);
/** Of those names, the ones that are pointers in these types. */
const POINTERS = new Set([
  "HorizontalPodAutoscalerStatus.observedGeneration",
  "ClientIPConfig.timeoutSeconds",
  "ValidatingWebhook.timeoutSeconds",
  "MutatingWebhook.timeoutSeconds",
]);

/** Strings that are pointers in Go and mean something when they are empty. */
const KEEP_EMPTY = new Set([
  "PersistentVolumeClaimSpec.storageClassName",
  "HostPathVolumeSource.type",
  "GRPCAction.service",
  "EndpointPort.name",
  "IngressSpec.ingressClassName",
]);

const shorten = (name) => name.replace(/^io\.k8s\./, "");
const fromRef = (ref) => shorten(ref.slice(ref.lastIndexOf("/") + 1));

function field(schema) {
  const out = {};
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (ref) out.r = fromRef(ref);
  else if (schema.type) out.t = schema.type;
  if (schema.format) out.f = schema.format;
  if (schema.default !== undefined) out.d = schema.default;
  if (schema.enum) out.e = schema.enum;
  if (schema.items) out.i = field(schema.items);
  if (schema.additionalProperties) out.v = field(schema.additionalProperties);
  if (schema["x-kubernetes-list-type"]) out.lt = schema["x-kubernetes-list-type"];
  if (schema["x-kubernetes-list-map-keys"]) out.lk = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-map-type"]) out.mt = schema["x-kubernetes-map-type"];
  if (schema["x-kubernetes-patch-strategy"]) out.ps = schema["x-kubernetes-patch-strategy"];
  if (schema["x-kubernetes-patch-merge-key"]) out.pk = schema["x-kubernetes-patch-merge-key"];
  return out;
}

function definition(name, schema) {
  const out = field(schema);
  if (schema.required) out.required = schema.required;
  if (schema.properties) {
    out.p = {};
    for (const [key, value] of Object.entries(schema.properties)) {
      out.p[key] = field(value);
      const place = `${name.slice(name.lastIndexOf(".") + 1)}.${key}`;
      const scalar = out.p[key].t === "integer" || out.p[key].t === "boolean";
      if (scalar && (OMIT_ZERO.has(key) || OMIT_ZERO.has(place)) && !POINTERS.has(place)) out.p[key].o = 1;
      if (KEEP_EMPTY.has(place) && !name.startsWith("api.core.v1.EndpointPort")) out.p[key].z = 1;
      if (NULL_TIMES[name]?.includes(key)) out.p[key].n = 1;
    }
  }
  if (schema.oneOf) delete out.t;
  const gvk = schema["x-kubernetes-group-version-kind"];
  // Options kinds are registered in every group; they are no resources of theirs.
  if (gvk?.length === 1) out.gvk = [gvk[0].group, gvk[0].version, gvk[0].kind];
  return out;
}

// OpenAPI v3 tells defaults, v2 covers every group.
const types = {};
for (const [name, schema] of Object.entries(read("v2.json").definitions)) {
  types[shorten(name)] = definition(shorten(name), schema);
}
for (const file of readdirSync(source).filter((name) => name.startsWith("v3."))) {
  for (const [name, schema] of Object.entries(read(file).components.schemas)) {
    types[shorten(name)] = definition(shorten(name), schema);
  }
}
// Groups without an OpenAPI v3 document here: what Go writes for metadata, spec and status is the same everywhere.
for (const type of Object.values(types)) {
  if (!type.gvk || !type.p?.metadata) continue;
  if (type.p.metadata.d === undefined) type.p.metadata.d = {};
}
for (const [name, type] of Object.entries(types))
  if (type.gvk?.[2].endsWith("List") && type.p?.items) delete types[name];

/** Kinds kept for their own types only while some resource or another kept type refers to them. */
const resources = [];
for (const file of ["discovery-api.json", "discovery-apis.json"]) {
  for (const item of read(file).items) {
    for (const { version, resources: list } of item.versions) {
      for (const r of list) {
        const group = item.metadata.name ?? "";
        resources.push({
          group,
          version,
          resource: r.resource,
          kind: r.responseKind.kind,
          singular: r.singularResource,
          ...(r.scope === "Namespaced" ? { namespaced: true } : {}),
          verbs: r.verbs,
          ...(r.shortNames ? { shortNames: r.shortNames } : {}),
          ...(r.categories ? { categories: r.categories } : {}),
          ...(r.subresources
            ? {
                subresources: r.subresources.map((s) => ({
                  name: s.subresource,
                  verbs: s.verbs,
                  kind: [s.responseKind.group || group, s.responseKind.version || version, s.responseKind.kind],
                })),
              }
            : {}),
        });
      }
    }
  }
}
const keep = new Set();
const reach = (name) => {
  if (keep.has(name) || !types[name]) return;
  keep.add(name);
  const visit = (f) => {
    if (f.r) reach(f.r);
    if (f.i) visit(f.i);
    if (f.v) visit(f.v);
  };
  visit(types[name]);
  for (const f of Object.values(types[name].p ?? {})) visit(f);
};
const kinds = new Set(
  resources.flatMap((r) => [
    `${r.group}/${r.version}/${r.kind}`,
    ...(r.subresources ?? []).map((s) => s.kind.join("/")),
  ]),
);
for (const [name, type] of Object.entries(types)) if (type.gvk && kinds.has(type.gvk.join("/"))) reach(name);
for (const name of ["Status", "DeleteOptions", "Patch", "ListMeta"]) reach(`apimachinery.pkg.apis.meta.v1.${name}`);

const table = {
  types: Object.fromEntries([...keep].sort().map((name) => [name, types[name]])),
  resources,
};
const target = process.argv[3] ?? join(root, "testbed/kube/schema/table.json");
const lines = (items) => items.join(",\n");
writeFileSync(
  target,
  `{"types":{\n${lines(Object.entries(table.types).map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`))}\n},"resources":[\n${lines(table.resources.map((r) => JSON.stringify(r)))}\n]}\n`,
);
console.log(`${target}: ${keep.size} types, ${resources.length} resources`);
