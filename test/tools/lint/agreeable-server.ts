/** An API server that has every kind of the scenarios and every object that it is asked for, and takes every dry run. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json, serve } from "../../support/http.js";

export interface AgreeableServer {
  kubeconfig: string;
  close(): Promise<void>;
}

const KINDS: [group: string, version: string, resource: string, kind: string, namespaced: boolean, short?: string][] = [
  ["", "v1", "namespaces", "Namespace", false, "ns"],
  ["", "v1", "nodes", "Node", false, "no"],
  ["", "v1", "pods", "Pod", true, "po"],
  ["", "v1", "services", "Service", true, "svc"],
  ["", "v1", "configmaps", "ConfigMap", true, "cm"],
  ["", "v1", "secrets", "Secret", true],
  ["", "v1", "resourcequotas", "ResourceQuota", true, "quota"],
  ["", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true, "pvc"],
  ["apps", "v1", "deployments", "Deployment", true, "deploy"],
  ["apps", "v1", "replicasets", "ReplicaSet", true, "rs"],
  ["autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true, "hpa"],
  ["networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true, "netpol"],
  ["security.istio.io", "v1", "authorizationpolicies", "AuthorizationPolicy", true],
  ...["schedule", "httpchaos", "iochaos", "jvmchaos", "networkchaos", "podchaos", "stresschaos"].map(
    (name): [string, string, string, string, boolean] => [
      "chaos-mesh.org",
      "v1alpha1",
      name === "schedule" ? "schedules" : name,
      name === "schedule" ? "Schedule" : name,
      true,
    ],
  ),
];

export async function agreeableServer(): Promise<AgreeableServer> {
  const discovery = (core: boolean) => ({
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    items: [...new Set(KINDS.map(([group]) => group))]
      .filter((group) => (group === "") === core)
      .map((group) => {
        const kinds = KINDS.filter((one) => one[0] === group);
        const resources = kinds.map(([, , resource, kind, namespaced, short]) => ({
          resource,
          singularResource: kind.toLowerCase(),
          responseKind: { group: "", version: "", kind },
          scope: namespaced ? "Namespaced" : "Cluster",
          shortNames: short === undefined ? [] : [short],
          categories: [],
          verbs: ["get", "list", "create", "delete", "patch", "update"],
        }));
        return { metadata: { name: group }, versions: [{ version: kinds[0]![1], resources }] };
      }),
  });
  const server = await serve(({ method, url }, response) => {
    const path = url.pathname;
    if (path === "/api" || path === "/apis") return json(response, discovery(path === "/api"));
    const match = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))\/(?:namespaces\/([^/]+)\/)?([^/]+)(?:\/([^/]+))?/.exec(path);
    const [, core, group, namespace, resource, name] = match ?? [];
    const kind = KINDS.find((one) => one[2] === resource)?.[3];
    if (kind === undefined)
      return json(response, { kind: "Status", code: 404, reason: "NotFound", message: path }, 404);
    const apiVersion = core ?? group;
    const labels = { app: name };
    const object = (own: string | undefined, of: string, owner?: object) => ({
      apiVersion,
      kind: of,
      metadata: { name: own, namespace, uid: `${of}-${own}`, generation: 1, labels, ...owner },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: {} } },
      status: {},
    });
    if (name !== undefined || method !== "GET") return json(response, object(name, kind));
    const selected = /app=([\w-]+)/.exec(url.searchParams.get("labelSelector") ?? "")?.[1];
    const owned = ["1", "2"].map((revision) =>
      object(`${selected}-${revision}`, kind, {
        annotations: { "deployment.kubernetes.io/revision": revision },
        ownerReferences: [{ kind: "Deployment", name: selected, uid: `Deployment-${selected}`, controller: true }],
      }),
    );
    // A rollback needs a revision to go back to.
    const items = resource === "replicasets" ? owned : [object("some", kind)];
    return json(response, { apiVersion, kind: `${kind}List`, metadata: {}, items });
  });
  const folder = mkdtempSync(join(tmpdir(), "itbench-agreeable-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: server.url } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  return {
    kubeconfig,
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
