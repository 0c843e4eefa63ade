/** What a fresh API server holds: its namespaces, its own Service, system priority classes, the roles everyone uses. */
import type { KubeApi } from "./api.js";

const MANAGER = { manager: "kube-apiserver" };
const everything = (verbs: string[]) => [{ apiGroups: ["*"], resources: ["*"], verbs }];
const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];
const RBAC = "rbac.authorization.k8s.io";

/** Fills an empty server. */
export function bootstrap(api: KubeApi): void {
  for (const name of ["kube-system", "kube-public", "kube-node-lease", "default"]) {
    api.create("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } }, MANAGER);
  }
  api.create(
    "services",
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name: "kubernetes",
        namespace: "default",
        labels: { component: "apiserver", provider: "kubernetes" },
      },
      spec: { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443, targetPort: 6443 }] },
    },
    MANAGER,
  );
  const address = "192.168.0.1";
  api.create(
    "endpoints",
    {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: {
        name: "kubernetes",
        namespace: "default",
        labels: { "endpointslice.kubernetes.io/skip-mirror": "true" },
      },
      subsets: [{ addresses: [{ ip: address }], ports: [{ name: "https", port: 6443, protocol: "TCP" }] }],
    },
    MANAGER,
  );
  api.create(
    "endpointslices.discovery.k8s.io",
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "kubernetes", namespace: "default", labels: { "kubernetes.io/service-name": "kubernetes" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: "https", port: 6443, protocol: "TCP" }],
    },
    MANAGER,
  );
  for (const [name, value] of [
    ["system-node-critical", 2000001000],
    ["system-cluster-critical", 2000000000],
  ] as const) {
    const object = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value };
    api.create("priorityclasses.scheduling.k8s.io", object, MANAGER);
  }
  const role = (name: string, rules: object[]) => {
    const object = {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: { name, labels: { "kubernetes.io/bootstrapping": "rbac-defaults" }, annotations: AUTOUPDATE },
      rules,
    };
    api.create(`clusterroles.${RBAC}`, object, MANAGER);
  };
  role("cluster-admin", [...everything(["*"]), { nonResourceURLs: ["*"], verbs: ["*"] }]);
  role("admin", namespacedRules(READ, WRITE, true));
  role("edit", namespacedRules(READ, WRITE, true));
  role("view", namespacedRules(READ, [], false));
  role("system:discovery", [
    {
      nonResourceURLs: [
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
      ],
      verbs: ["get"],
    },
  ]);
  role("system:basic-user", [
    {
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
      verbs: ["create"],
    },
    { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
  ]);
  const bind = (name: string, group: string) => {
    const object = {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name, labels: { "kubernetes.io/bootstrapping": "rbac-defaults" }, annotations: AUTOUPDATE },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
      subjects: [{ kind: "Group", name: group, apiGroup: RBAC }],
    };
    api.create(`clusterrolebindings.${RBAC}`, object, MANAGER);
  };
  bind("cluster-admin", "system:masters");
  bind("system:discovery", "system:authenticated");
  bind("system:basic-user", "system:authenticated");
}

/** Says that the server puts a default role right again when it starts. */
const AUTOUPDATE = { "rbac.authorization.kubernetes.io/autoupdate": "true" };

/** What the namespaced default roles cover. */
function namespacedRules(read: string[], write: string[], secrets: boolean): object[] {
  const verbs = [...read, ...write];
  const core = [
    "bindings",
    "configmaps",
    "endpoints",
    "events",
    "limitranges",
    "namespaces",
    "persistentvolumeclaims",
    "pods",
    "pods/log",
    "pods/status",
    "replicationcontrollers",
    "resourcequotas",
    "serviceaccounts",
    "services",
  ];
  return [
    { apiGroups: [""], resources: secrets ? [...core, "secrets"] : core, verbs },
    { apiGroups: ["apps"], resources: ["*"], verbs },
    {
      apiGroups: ["autoscaling", "batch", "policy", "networking.k8s.io", "discovery.k8s.io", "events.k8s.io"],
      resources: ["*"],
      verbs,
    },
  ];
}
