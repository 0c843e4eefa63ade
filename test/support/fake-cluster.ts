/** An API server that lists given objects, and nothing else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json, type Recorded, serve } from "./http.js";

export interface FakeCluster {
  kubeconfig: string;
  requests: Recorded[];
  close(): Promise<void>;
}

/** Plural, kind, API group version, whether namespaced. */
const KINDS: [string, string, string, boolean][] = [
  ["pods", "Pod", "v1", true],
  ["services", "Service", "v1", true],
  ["configmaps", "ConfigMap", "v1", true],
  ["secrets", "Secret", "v1", true],
  ["events", "Event", "v1", true],
  ["persistentvolumeclaims", "PersistentVolumeClaim", "v1", true],
  ["nodes", "Node", "v1", false],
  ["namespaces", "Namespace", "v1", false],
  ["deployments", "Deployment", "apps/v1", true],
  ["replicasets", "ReplicaSet", "apps/v1", true],
  ["statefulsets", "StatefulSet", "apps/v1", true],
  ["controllerrevisions", "ControllerRevision", "apps/v1", true],
  ["horizontalpodautoscalers", "HorizontalPodAutoscaler", "autoscaling/v2", true],
  ["networkpolicies", "NetworkPolicy", "networking.k8s.io/v1", true],
  ["ingresses", "Ingress", "networking.k8s.io/v1", true],
  ["virtualservices", "VirtualService", "networking.istio.io/v1", true],
];

function discovery(core: boolean) {
  const groups = new Map<string, { version: string; resources: unknown[] }>();
  for (const [resource, kind, groupVersion, namespaced] of KINDS) {
    const [group, version] = groupVersion.includes("/") ? groupVersion.split("/") : ["", groupVersion];
    if ((group === "") !== core) continue;
    const entry = groups.get(group!) ?? { version: version!, resources: [] };
    entry.resources.push({
      resource,
      singularResource: kind.toLowerCase(),
      responseKind: { kind },
      scope: namespaced ? "Namespaced" : "Cluster",
      verbs: ["get", "list"],
    });
    groups.set(group!, entry);
  }
  return {
    kind: "APIGroupDiscoveryList",
    items: [...groups].map(([name, version]) => ({ metadata: { name }, versions: [version] })),
  };
}

/** @param forbidden plurals that may not be listed */
export async function fakeCluster(objects: readonly any[], forbidden: readonly string[] = []): Promise<FakeCluster> {
  const server = await serve(({ url }, response) => {
    if (url.pathname === "/api" || url.pathname === "/apis") return json(response, discovery(url.pathname === "/api"));
    const [, namespace, plural] = /^\/apis?\/.*?(?:\/namespaces\/([^/]+))?\/([^/]+)$/.exec(url.pathname) ?? [];
    const known = KINDS.find(([resource]) => resource === plural);
    if (known === undefined) return json(response, { kind: "Status", reason: "NotFound", message: "not found" }, 404);
    if (forbidden.includes(plural!)) {
      return json(response, { kind: "Status", reason: "Forbidden", message: `${plural} is forbidden` }, 403);
    }
    const items = objects.filter(
      (one) => one.kind === known[1] && (namespace === undefined || one.metadata.namespace === namespace),
    );
    return json(response, { kind: `${known[1]}List`, apiVersion: known[2], metadata: {}, items });
  });
  const folder = mkdtempSync(join(tmpdir(), "itbench-cluster-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: server.url } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "shop" } }],
      "current-context": "x",
    }),
  );
  return {
    kubeconfig,
    requests: server.requests,
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const CREATED = "2026-01-01T10:00:00Z";

/** `metadata` of an object in namespace shop that was made two hours before the tests' now. */
export function meta(name: string, more: Record<string, unknown> = {}) {
  return {
    name,
    namespace: "shop",
    uid: `${name}-${JSON.stringify(more).length}`,
    creationTimestamp: CREATED,
    ...more,
  };
}

export function deployment(name: string, container: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  return {
    kind: "Deployment",
    metadata: meta(name, { uid: `deployment-${name}`, ...(more.metadata as object) }),
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name, image: `${name}:1`, ...container }], ...(more.pod as object) },
      },
    },
    status: { readyReplicas: 1 },
  };
}

export function service(name: string, port: number, more: Record<string, unknown> = {}) {
  return { kind: "Service", metadata: meta(name), spec: { selector: { app: name }, ports: [{ port }], ...more } };
}
