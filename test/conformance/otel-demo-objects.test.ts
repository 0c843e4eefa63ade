/**
 * What a real control plane (with fake nodes) made of the OpenTelemetry Demo's manifests, against what ours makes of
 * them: every object, defaults, status, owned objects and events.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { packageFile } from "../../paths.js";
import { VirtualClock } from "../../testbed/clock.js";
import { nodeSpecs, startControllers } from "../../testbed/kube/controllers/index.js";
import { ApiServer } from "../../testbed/kube/server.js";
import { Random } from "../../testbed/random.js";

const SHARED = packageFile("..", "shared", "data");
const RECORDED = join(SHARED, "controlplane", "otel-demo-objects.json");
const MANIFEST = join(SHARED, "manifests", "opentelemetry-demo.yaml");
const present = existsSync(RECORDED) && existsSync(MANIFEST);
const NAMESPACE = "otel-demo";

const RESOURCES: Record<string, string> = {
  Event: "events",
  Pod: "pods",
  Deployment: "deployments.apps",
  ReplicaSet: "replicasets.apps",
  Service: "services",
  Endpoints: "endpoints",
  EndpointSlice: "endpointslices.discovery.k8s.io",
  ConfigMap: "configmaps",
  ServiceAccount: "serviceaccounts",
};
const SAFE = "[bcdfghjklmnpqrstvwxz2456789]";

/** Times, uids, hashes, addresses and what comes of who applied it, on both sides. */
function mask(value: any, key = ""): any {
  if (Array.isArray(value)) return value.map((item) => mask(item));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([k]) => !["uid", "resourceVersion", "managedFields", "reportingInstance"].includes(k))
        .filter(([k]) => k !== "kubectl.kubernetes.io/last-applied-configuration")
        .map(([k, v]) => [k, mask(v, k)]),
    );
  }
  if (typeof value !== "string") return value;
  if (key === "nodeName") return "<node>";
  return value
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>")
    .replace(/\.[0-9a-f]{16}$/, ".<event>")
    .replace(new RegExp(`-${SAFE}{7,10}-${SAFE}{5}\\b`, "g"), "-<hash>-<id>")
    .replace(new RegExp(`-${SAFE}{7,10}(?=[-"\\s.]|$)`, "g"), "-<hash>")
    .replace(new RegExp(`^${SAFE}{7,10}$`), key === "pod-template-hash" ? "<hash>" : "$&")
    .replace(new RegExp(`-${SAFE}{5}$`), "-<id>")
    .replace(/\b\d{1,3}(\.\d{1,3}){3}\b/g, "<ip>")
    .replace(/ to node-\d$/, " to <node>");
}

/** Masked objects by `Kind/name`; what shares a masked name is kept in order of its text. */
function index(objects: any[]): Map<string, any[]> {
  const groups = new Map<string, any[]>();
  for (const object of objects) {
    const masked = mask(object);
    // A real server leaves an empty list of annotations out; an applied one is never empty.
    if (masked.metadata.annotations && Object.keys(masked.metadata.annotations).length === 0)
      delete masked.metadata.annotations;
    const key = `${object.kind}/${masked.metadata.name}`;
    groups.set(key, [...(groups.get(key) ?? []), masked]);
  }
  for (const group of groups.values()) group.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return groups;
}

function ours(): any[] {
  const clock = new VirtualClock(Date.parse("2026-12-01T15:06:00Z"));
  const api = new ApiServer({ clock, random: new Random("otel-demo") });
  const { stop } = startControllers(api, { profile: "kwok", nodes: nodeSpecs(3, "kwok") });
  api.create("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  clock.advance(3000);
  for (const document of parseAllDocuments(readFileSync(MANIFEST, "utf8"))) {
    const object = document.toJSON();
    const resource = object && RESOURCES[object.kind];
    if (!resource) continue;
    api.create(resource, { ...object, metadata: { ...object.metadata, namespace: NAMESPACE } });
    clock.settle();
  }
  clock.advance(3000);
  const objects = Object.values(RESOURCES).flatMap((resource) => [...api.list(resource, NAMESPACE)]);
  stop();
  return objects;
}

describe.skipIf(!present)(`objects of the OpenTelemetry Demo (needs ${present ? "nothing more" : "../shared"})`, () => {
  const recorded = present ? index(JSON.parse(readFileSync(RECORDED, "utf8")).items) : new Map();
  const made = present ? index(ours()) : new Map();

  it("has the same objects", () => {
    expect([...made.keys()].sort()).toEqual([...recorded.keys()].sort());
  });

  it.each(Object.keys(RESOURCES))("%s", (kind) => {
    const pick = (all: Map<string, any[]>) =>
      Object.fromEntries([...all].filter(([key]) => key.startsWith(`${kind}/`)));
    expect(pick(made)).toEqual(pick(recorded));
  });
});
