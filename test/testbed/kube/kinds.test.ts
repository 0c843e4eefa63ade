/** What a real server refuses, kind by kind: the messages are the contract. */
import { describe, expect, it } from "vitest";
import { bareServer, deployment, MERGE, pod } from "./api-harness.js";

const paths: Record<string, string> = {
  Pod: "/api/v1/namespaces/default/pods",
  Service: "/api/v1/namespaces/default/services",
  ConfigMap: "/api/v1/namespaces/default/configmaps",
  Secret: "/api/v1/namespaces/default/secrets",
  Namespace: "/api/v1/namespaces",
  PersistentVolumeClaim: "/api/v1/namespaces/default/persistentvolumeclaims",
  Deployment: "/apis/apps/v1/namespaces/default/deployments",
  StatefulSet: "/apis/apps/v1/namespaces/default/statefulsets",
  DaemonSet: "/apis/apps/v1/namespaces/default/daemonsets",
  Job: "/apis/batch/v1/namespaces/default/jobs",
  CronJob: "/apis/batch/v1/namespaces/default/cronjobs",
  HorizontalPodAutoscaler: "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
  NetworkPolicy: "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
  Ingress: "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
  PriorityClass: "/apis/scheduling.k8s.io/v1/priorityclasses",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
};
const make = (kind: string, spec: object, more: object = {}): any => ({ kind, metadata: { name: "x" }, spec, ...more });
const container = (more: object) => pod("x", { containers: [{ name: "c", image: "i", ...more }] });
const template = (more: object = {}) => ({
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "c", image: "i" }], ...more },
});

const REFUSED: [string, any, string[]][] = [
  [
    "bad name",
    { ...pod("Bad_Name") },
    ['metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist'],
  ],
  ["no name", { ...pod(""), metadata: {} }, ["metadata.name: Required value: name or generateName is required"]],
  [
    "bad label",
    pod("x", {}, { labels: { "x y": "z", ok: "a b" } }),
    [
      'metadata.labels: Invalid value: "x y": name part must consist',
      'metadata.labels: Invalid value: "a b": a valid label must be an empty string',
    ],
  ],
  ["no containers", pod("x", { containers: [] }), ["spec.containers: Required value"]],
  ["no image", container({ image: "" }), ["spec.containers[0].image: Required value"]],
  [
    "two of a name",
    pod("x", {
      containers: [
        { name: "c", image: "i" },
        { name: "c", image: "i" },
      ],
    }),
    ['spec.containers[1].name: Duplicate value: "c"'],
  ],
  [
    "port",
    container({ ports: [{ containerPort: 70000 }] }),
    ["spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
  ],
  [
    "port name",
    container({ ports: [{ containerPort: 1, name: "Has_Upper" }] }),
    ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"],
  ],
  [
    "protocol",
    container({ ports: [{ containerPort: 1, protocol: "X" }] }),
    ['protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    "request over limit",
    container({ resources: { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } } }),
    ['spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi'],
  ],
  [
    "unknown resource",
    container({ resources: { limits: { gpu: "1" } } }),
    [
      'spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
    ],
  ],
  [
    "mount of nothing",
    container({ volumeMounts: [{ name: "v", mountPath: "/v" }] }),
    ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    "value and source",
    container({ env: [{ name: "A", value: "1", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    "probe without handler",
    container({ livenessProbe: { periodSeconds: 5 } }),
    ["spec.containers[0].livenessProbe: Required value: must specify a handler type"],
  ],
  [
    "liveness success",
    container({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
    ["spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"],
  ],
  [
    "restart policy",
    pod("x", { restartPolicy: "Sometimes" }),
    ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    "priority class",
    pod("x", { priorityClassName: "nope" }),
    ['pods "x" is forbidden: no PriorityClass with name nope was found'],
  ],
  [
    "unselected template",
    { ...deployment("x"), spec: { ...deployment("x").spec, selector: { matchLabels: { a: "b" } } } },
    ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
  ],
  ["no selector", make("Deployment", { template: template() }), ["spec.selector: Required value"]],
  [
    "restarting never",
    deployment("x", { template: template({ restartPolicy: "Never" }) }),
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
  [
    "no surge and no outage",
    deployment("x", { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
    ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
  ],
  [
    "recreate with rolling",
    deployment("x", { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }),
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    "short deadline",
    deployment("x", { minReadySeconds: 10, progressDeadlineSeconds: 5 }),
    ["must be greater than minReadySeconds"],
  ],
  [
    "job that restarts",
    make("Job", { template: template() }),
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    "cron",
    make("CronJob", { schedule: "x", jobTemplate: { spec: { template: template({ restartPolicy: "Never" }) } } }),
    ['spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]'],
  ],
  [
    "service type",
    make("Service", { type: "Weird", ports: [{ port: 80 }] }),
    [
      'spec.type: Unsupported value: "Weird": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  ],
  [
    "unnamed ports",
    make("Service", { ports: [{ port: 80 }, { port: 81 }] }),
    ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
  ],
  [
    "same port twice",
    make("Service", {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
      ],
    }),
    ["spec.ports[1]: Duplicate value"],
  ],
  ["no ports", make("Service", {}), ["spec.ports: Required value"]],
  [
    "node port out of range",
    make("Service", { type: "NodePort", ports: [{ port: 80, nodePort: 99 }] }),
    ["provided port is not in the valid range. The range of valid ports is 30000-32767"],
  ],
  [
    "address in use",
    make("Service", { clusterIP: "10.96.0.1", ports: [{ port: 80 }] }),
    ["provided IP is already allocated"],
  ],
  [
    "config key",
    make("ConfigMap", {}, { spec: undefined, data: { "a b": "c" } }),
    ['data[a b]: Invalid value: "a b": a valid config key must consist'],
  ],
  ["TLS secret", make("Secret", {}, { spec: undefined, type: "kubernetes.io/tls" }), ["data[tls.crt]: Required value"]],
  [
    "autoscaler range",
    make("HorizontalPodAutoscaler", {
      minReplicas: 5,
      maxReplicas: 2,
      scaleTargetRef: { kind: "Deployment", name: "d" },
    }),
    ["spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"],
  ],
  [
    "claim size",
    make("PersistentVolumeClaim", { accessModes: ["ReadWriteOnce"] }),
    ["spec.resources[storage]: Required value"],
  ],
  [
    "policy type",
    make("NetworkPolicy", { podSelector: {}, policyTypes: ["Sideways"] }),
    ['Unsupported value: "Sideways": supported values: "Ingress", "Egress"'],
  ],
  ["empty ingress", make("Ingress", {}), ["either `defaultBackend` or `rules` must be specified"]],
  [
    "priority",
    make("PriorityClass", {}, { spec: undefined, value: 2000000000 }),
    ["maximum allowed value of a user defined priority is 1000000000"],
  ],
  [
    "binding",
    make("RoleBinding", {}, { spec: undefined, roleRef: { kind: "Nope", name: "r" } }),
    ['roleRef.kind: Unsupported value: "Nope": supported values: "Role", "ClusterRole"'],
  ],
];

describe("validation", () => {
  it.each(REFUSED)("%s", async (_, object, messages) => {
    const { ask } = bareServer();
    const answer = await ask("POST", paths[object.kind]!, object);
    expect([403, 422]).toContain(answer.status);
    for (const message of messages) expect(answer.body.message).toContain(message);
    if (answer.status === 422) expect(answer.body.details.causes.length).toBeGreaterThanOrEqual(messages.length);
  });
});

describe("what the server adds", () => {
  it.each<[string, any, object]>([
    [
      "pods",
      container({ resources: { limits: { cpu: "1", memory: "1Gi" } } }),
      {
        spec: {
          enableServiceLinks: true,
          priority: 0,
          preemptionPolicy: "PreemptLowerPriority",
          containers: [{ resources: { requests: { cpu: "1", memory: "1Gi" } } }],
        },
        status: { phase: "Pending", qosClass: "Guaranteed" },
      },
    ],
    [
      "stateful sets",
      make("StatefulSet", { selector: { matchLabels: { app: "x" } }, template: template() }),
      {
        spec: {
          podManagementPolicy: "OrderedReady",
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        },
      },
    ],
    [
      "daemon sets",
      make("DaemonSet", { selector: { matchLabels: { app: "x" } }, template: template() }),
      {
        metadata: { annotations: { "deprecated.daemonset.template.generation": "1" } },
        spec: { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
      },
    ],
    [
      "jobs",
      make("Job", { template: template({ restartPolicy: "Never" }) }),
      { spec: { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false } },
    ],
    [
      "services",
      make("Service", { ports: [{ port: 80 }] }),
      {
        spec: {
          type: "ClusterIP",
          sessionAffinity: "None",
          internalTrafficPolicy: "Cluster",
          ipFamilies: ["IPv4"],
          ipFamilyPolicy: "SingleStack",
          ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
        },
        status: { loadBalancer: {} },
      },
    ],
    [
      "secrets",
      make("Secret", {}, { spec: undefined, stringData: { a: "b" } }),
      { type: "Opaque", data: { a: "Yg==" } },
    ],
    [
      "autoscalers",
      make("HorizontalPodAutoscaler", {
        maxReplicas: 2,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      }),
      { spec: { minReplicas: 1, metrics: [{ resource: { name: "cpu", target: { averageUtilization: 80 } } }] } },
    ],
    [
      "network policies",
      make("NetworkPolicy", { podSelector: {}, egress: [{}] }),
      { spec: { policyTypes: ["Ingress", "Egress"] } },
    ],
    [
      "namespaces",
      make("Namespace", {}),
      {
        metadata: { labels: { "kubernetes.io/metadata.name": "x" } },
        spec: { finalizers: ["kubernetes"] },
        status: { phase: "Active" },
      },
    ],
  ])("to %s", async (_, object, expected) => {
    const { ask } = bareServer();
    const answer = await ask("POST", paths[object.kind]!, object);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(answer.body).toMatchObject(expected);
  });

  it("keeps a service's address and node port over updates, and refuses another", async () => {
    const { ask } = bareServer();
    const path = `${paths.Service}/x`;
    const made = (await ask("POST", paths.Service!, make("Service", { type: "NodePort", ports: [{ port: 80 }] }))).body
      .spec;
    const next = (
      await ask("PUT", path, make("Service", { type: "NodePort", ports: [{ port: 80, targetPort: 8080 }] }))
    ).body.spec;
    expect([next.clusterIP, next.ports[0].nodePort]).toEqual([made.clusterIP, made.ports[0].nodePort]);
    const moved = await ask(
      "PATCH",
      path,
      { spec: { clusterIP: "10.96.9.9", clusterIPs: ["10.96.9.9"] } },
      { type: MERGE },
    );
    expect(moved.body.message).toContain("may not change once set");
    const plain = (await ask("PATCH", path, { spec: { type: "ClusterIP" } }, { type: MERGE })).body.spec;
    expect(plain.ports[0]).not.toHaveProperty("nodePort");
  });

  it("counts the generations of a daemon set's template", async () => {
    const { ask } = bareServer();
    await ask(
      "POST",
      paths.DaemonSet!,
      make("DaemonSet", { selector: { matchLabels: { app: "x" } }, template: template() }),
    );
    const patch = { spec: { template: { spec: { terminationGracePeriodSeconds: 5 } } } };
    const { metadata } = (await ask("PATCH", `${paths.DaemonSet}/x`, patch, { type: MERGE })).body;
    expect(metadata.annotations["deprecated.daemonset.template.generation"]).toBe("2");
  });
});

describe("what the server warns of", () => {
  it.each<[string, any, string]>([
    [
      "a variable that hides another",
      container({
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      }),
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ],
    [
      "a port twice",
      deployment("x", {
        template: {
          metadata: { labels: { app: "x" } },
          spec: { containers: [{ name: "c", image: "i", ports: [{ containerPort: 1 }, { containerPort: 1 }] }] },
        },
      }),
      "spec.template.spec.containers[0].ports[1]: duplicate port definition with spec.template.spec.containers[0].ports[0]",
    ],
    [
      "an old label",
      pod("x", { nodeSelector: { "beta.kubernetes.io/os": "linux" } }),
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
    [
      "affinity without an address",
      make("Service", { clusterIP: "None", sessionAffinity: "ClientIP" }),
      "spec.SessionAffinity is ignored for headless services",
    ],
  ])("%s", async (_, object, warning) => {
    const { ask } = bareServer();
    const answer = await ask("POST", paths[object.kind]!, object);
    expect(answer.status).toBe(201);
    expect(answer.warnings).toContain(warning);
  });
  it("but not of a variable that builds on another", async () => {
    const { ask } = bareServer();
    const object = container({
      env: [
        { name: "A", value: "1" },
        { name: "A", value: "$(A)2" },
      ],
    });
    expect((await ask("POST", paths.Pod!, object)).warnings).toEqual([]);
  });
});

describe("PUT", () => {
  const budget = { kind: "PodDisruptionBudget", metadata: { name: "b" }, spec: { minAvailable: 1 } };
  const role = { kind: "Role", metadata: { name: "r" }, rules: [] };
  it("asks for a version where blind updates are not allowed", async () => {
    const { ask } = bareServer();
    const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    await ask("POST", path, budget);
    const blind = await ask("PUT", `${path}/b`, budget);
    expect(blind.body.message).toContain(
      "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update",
    );
  });
  it("creates only what may be created so", async () => {
    const { ask } = bareServer();
    expect((await ask("PUT", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/r", role)).status).toBe(201);
    expect(
      (await ask("PUT", `${paths.ConfigMap}/c`, make("ConfigMap", {}, { spec: undefined, metadata: { name: "c" } })))
        .status,
    ).toBe(404);
  });
});
