import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../../testbed/kube/objects.js";
import { KUBE_STATE_KINDS } from "../../../../testbed/telemetry/exporters/kube-state/index.js";

/** Samples of an object as `name{label="value",...} value`; empty labels left out, as the store leaves them. */
function samples(resource: string, object: Partial<KubeObject>): string[] {
  const kind = KUBE_STATE_KINDS.find((candidate) => candidate.resource === resource);
  if (kind === undefined) throw new Error(`no kind ${resource}`);
  const lines: string[] = [];
  kind.samples(object as KubeObject, (metric, labels, value) => {
    const kept = Object.entries(labels).filter(([, text]) => text !== "");
    lines.push(`${metric}{${kept.map(([name, text]) => `${name}="${text}"`).join(",")}} ${value}`);
  });
  return lines;
}

const T = "2026-01-15T09:00:00Z";
const SECONDS = Date.parse(T) / 1000;
const meta = (name: string, more = {}) => ({
  name,
  namespace: "ns",
  uid: "u1",
  creationTimestamp: T,
  generation: 3,
  ...more,
});
const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "u0", controller: true };

function pod(status: Record<string, unknown>, spec: Record<string, unknown> = {}, metadata = {}) {
  return {
    metadata: meta("p", metadata),
    spec: { containers: [{ name: "c", image: "i:1" }], nodeName: "n1", ...spec },
    status,
  };
}
const P = 'namespace="ns",pod="p",uid="u1"';
const C = `${P},container="c"`;

describe("kube-state-metrics", () => {
  it.each<[string, string, object, string[]]>([
    [
      "a running pod",
      "pods",
      pod(
        {
          phase: "Running",
          podIP: "10.0.0.5",
          hostIP: "172.18.0.2",
          qosClass: "Burstable",
          startTime: T,
          conditions: [
            { type: "Ready", status: "True", lastTransitionTime: T },
            { type: "PodScheduled", status: "True", lastTransitionTime: T },
          ],
          containerStatuses: [
            {
              name: "c",
              image: "i:1",
              imageID: "sha256:1",
              containerID: "containerd://abc",
              ready: true,
              restartCount: 2,
              state: { running: { startedAt: T } },
            },
          ],
        },
        {
          containers: [
            {
              name: "c",
              image: "i:1",
              resources: { requests: { cpu: "250m", memory: "64Mi" }, limits: { memory: "1Gi" } },
            },
          ],
        },
        { ownerReferences: [owner] },
      ),
      [
        `kube_pod_info{${P},host_ip="172.18.0.2",pod_ip="10.0.0.5",node="n1",created_by_kind="ReplicaSet",created_by_name="web-1",host_network="false"} 1`,
        `kube_pod_owner{${P},owner_kind="ReplicaSet",owner_name="web-1",owner_is_controller="true"} 1`,
        `kube_pod_status_phase{${P},phase="Running"} 1`,
        `kube_pod_status_phase{${P},phase="Pending"} 0`,
        `kube_pod_status_ready{${P},condition="true"} 1`,
        `kube_pod_status_ready{${P},condition="false"} 0`,
        `kube_pod_status_scheduled{${P},condition="true"} 1`,
        `kube_pod_status_qos_class{${P},qos_class="Burstable"} 1`,
        `kube_pod_status_reason{${P},reason="Evicted"} 0`,
        `kube_pod_start_time{${P}} ${SECONDS}`,
        `kube_pod_container_info{${C},image_spec="i:1",image="i:1",image_id="sha256:1",container_id="containerd://abc"} 1`,
        `kube_pod_container_status_running{${C}} 1`,
        `kube_pod_container_status_waiting{${C}} 0`,
        `kube_pod_container_status_ready{${C}} 1`,
        `kube_pod_container_status_restarts_total{${C}} 2`,
        `kube_pod_container_resource_requests{${C},node="n1",resource="cpu",unit="core"} 0.25`,
        `kube_pod_container_resource_requests{${C},node="n1",resource="memory",unit="byte"} ${64 * 2 ** 20}`,
        `kube_pod_container_resource_limits{${C},node="n1",resource="memory",unit="byte"} ${2 ** 30}`,
      ],
    ],
    [
      "a pod in a crash loop",
      "pods",
      pod({
        phase: "Running",
        conditions: [{ type: "Ready", status: "False" }],
        containerStatuses: [
          {
            name: "c",
            ready: false,
            restartCount: 5,
            state: { waiting: { reason: "CrashLoopBackOff" } },
            lastState: { terminated: { exitCode: 137, reason: "OOMKilled", finishedAt: T } },
          },
        ],
      }),
      [
        `kube_pod_status_ready{${P},condition="false"} 1`,
        `kube_pod_container_status_waiting{${C}} 1`,
        `kube_pod_container_status_waiting_reason{${C},reason="CrashLoopBackOff"} 1`,
        `kube_pod_container_status_last_terminated_reason{${C},reason="OOMKilled"} 1`,
        `kube_pod_container_status_last_terminated_exitcode{${C}} 137`,
        `kube_pod_container_status_restarts_total{${C}} 5`,
      ],
    ],
    [
      "a pod that waits for its init container",
      "pods",
      pod(
        {
          phase: "Pending",
          initContainerStatuses: [
            { name: "wait", ready: false, restartCount: 0, state: { running: { startedAt: T } } },
          ],
        },
        { initContainers: [{ name: "wait", image: "busybox" }] },
      ),
      [
        `kube_pod_status_phase{${P},phase="Pending"} 1`,
        `kube_pod_init_container_status_running{${P},container="wait"} 1`,
        `kube_pod_init_container_status_ready{${P},container="wait"} 0`,
      ],
    ],
    [
      "a pod that no node takes",
      "pods",
      pod(
        { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
        { nodeName: undefined },
      ),
      [
        `kube_pod_status_scheduled{${P},condition="false"} 1`,
        `kube_pod_status_unschedulable{${P}} 1`,
        // Without an owner, the owner's labels are empty.
        `kube_pod_owner{${P}} 1`,
      ],
    ],
    [
      "an evicted pod",
      "pods",
      pod({ phase: "Failed", reason: "Evicted" }),
      [`kube_pod_status_phase{${P},phase="Failed"} 1`, `kube_pod_status_reason{${P},reason="Evicted"} 1`],
    ],
    [
      "a pod whose container ended",
      "pods",
      pod({
        phase: "Succeeded",
        containerStatuses: [
          { name: "c", ready: false, restartCount: 0, state: { terminated: { reason: "Completed", exitCode: 0 } } },
        ],
      }),
      [
        `kube_pod_container_status_terminated{${C}} 1`,
        `kube_pod_container_status_terminated_reason{${C},reason="Completed"} 1`,
      ],
    ],
    [
      "a deployment",
      "deployments.apps",
      {
        metadata: meta("web"),
        spec: { replicas: 4, strategy: { rollingUpdate: { maxSurge: "30%", maxUnavailable: "30%" } } },
        status: {
          observedGeneration: 2,
          replicas: 4,
          readyReplicas: 3,
          availableReplicas: 3,
          unavailableReplicas: 1,
          updatedReplicas: 4,
          conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }],
        },
      },
      [
        'kube_deployment_spec_replicas{namespace="ns",deployment="web"} 4',
        'kube_deployment_status_replicas_available{namespace="ns",deployment="web"} 3',
        'kube_deployment_status_replicas_unavailable{namespace="ns",deployment="web"} 1',
        'kube_deployment_status_observed_generation{namespace="ns",deployment="web"} 2',
        'kube_deployment_metadata_generation{namespace="ns",deployment="web"} 3',
        'kube_deployment_status_condition{namespace="ns",deployment="web",condition="Progressing",reason="ProgressDeadlineExceeded",status="false"} 1',
        'kube_deployment_spec_strategy_rollingupdate_max_surge{namespace="ns",deployment="web"} 2',
        'kube_deployment_spec_strategy_rollingupdate_max_unavailable{namespace="ns",deployment="web"} 1',
      ],
    ],
    [
      "a deployment scaled to zero",
      "deployments.apps",
      { metadata: meta("web"), spec: { replicas: 0 }, status: {} },
      [
        'kube_deployment_spec_replicas{namespace="ns",deployment="web"} 0',
        'kube_deployment_status_replicas_available{namespace="ns",deployment="web"} 0',
      ],
    ],
    [
      "a replica set",
      "replicasets.apps",
      {
        metadata: meta("web-1", { ownerReferences: [{ kind: "Deployment", name: "web", controller: true }] }),
        spec: { replicas: 1 },
      },
      [
        'kube_replicaset_owner{namespace="ns",replicaset="web-1",owner_kind="Deployment",owner_name="web",owner_is_controller="true"} 1',
      ],
    ],
    [
      "a stateful set",
      "statefulsets.apps",
      {
        metadata: meta("db"),
        spec: { replicas: 2 },
        status: { readyReplicas: 1, currentRevision: "db-1", updateRevision: "db-2" },
      },
      [
        'kube_statefulset_replicas{namespace="ns",statefulset="db"} 2',
        'kube_statefulset_status_replicas_ready{namespace="ns",statefulset="db"} 1',
        'kube_statefulset_status_update_revision{namespace="ns",statefulset="db",revision="db-2"} 1',
      ],
    ],
    [
      "a daemon set",
      "daemonsets.apps",
      { metadata: meta("agent"), spec: {}, status: { desiredNumberScheduled: 3, numberAvailable: 2 } },
      [
        'kube_daemonset_status_desired_number_scheduled{namespace="ns",daemonset="agent"} 3',
        'kube_daemonset_status_number_available{namespace="ns",daemonset="agent"} 2',
      ],
    ],
    [
      "a failed job",
      "jobs.batch",
      {
        metadata: meta("j"),
        spec: { completions: 1 },
        status: { failed: 4, conditions: [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded" }] },
      },
      [
        'kube_job_status_failed{namespace="ns",job_name="j",reason="BackoffLimitExceeded"} 1',
        'kube_job_failed{namespace="ns",job_name="j",condition="true"} 1',
        'kube_job_owner{namespace="ns",job_name="j"} 1',
      ],
    ],
    [
      "a cron job",
      "cronjobs.batch",
      {
        metadata: meta("cj"),
        spec: { schedule: "*/5 * * * *", suspend: true },
        status: { active: [{}], lastScheduleTime: T },
      },
      [
        'kube_cronjob_info{namespace="ns",cronjob="cj",schedule="*/5 * * * *",concurrency_policy="Allow",timezone="local"} 1',
        'kube_cronjob_spec_suspend{namespace="ns",cronjob="cj"} 1',
        `kube_cronjob_status_last_schedule_time{namespace="ns",cronjob="cj"} ${SECONDS}`,
      ],
    ],
    [
      "an autoscaler",
      "horizontalpodautoscalers.autoscaling",
      {
        metadata: meta("h"),
        spec: {
          minReplicas: 1,
          maxReplicas: 5,
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          metrics: [
            { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
          ],
        },
        status: {
          currentReplicas: 5,
          desiredReplicas: 5,
          conditions: [{ type: "ScalingLimited", status: "True" }],
          currentMetrics: [
            { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 240, averageValue: "240m" } } },
          ],
        },
      },
      [
        'kube_horizontalpodautoscaler_info{namespace="ns",horizontalpodautoscaler="h",scaletargetref_api_version="apps/v1",scaletargetref_kind="Deployment",scaletargetref_name="web"} 1',
        'kube_horizontalpodautoscaler_status_current_replicas{namespace="ns",horizontalpodautoscaler="h"} 5',
        'kube_horizontalpodautoscaler_spec_max_replicas{namespace="ns",horizontalpodautoscaler="h"} 5',
        'kube_horizontalpodautoscaler_status_condition{namespace="ns",horizontalpodautoscaler="h",condition="ScalingLimited",status="true"} 1',
        'kube_horizontalpodautoscaler_spec_target_metric{namespace="ns",horizontalpodautoscaler="h",metric_name="cpu",metric_target_type="utilization"} 80',
        'kube_horizontalpodautoscaler_status_target_metric{namespace="ns",horizontalpodautoscaler="h",metric_name="cpu",metric_target_type="average"} 0.24',
      ],
    ],
    [
      "a disruption budget",
      "poddisruptionbudgets.policy",
      { metadata: meta("b"), status: { currentHealthy: 1, desiredHealthy: 2 } },
      ['kube_poddisruptionbudget_status_desired_healthy{namespace="ns",poddisruptionbudget="b"} 2'],
    ],
    [
      "a service",
      "services",
      { metadata: meta("s"), spec: { type: "NodePort", clusterIP: "10.96.0.9" } },
      [
        'kube_service_info{namespace="ns",service="s",uid="u1",cluster_ip="10.96.0.9"} 1',
        'kube_service_spec_type{namespace="ns",service="s",uid="u1",type="NodePort"} 1',
      ],
    ],
    [
      "endpoints, ready and not",
      "endpoints",
      {
        metadata: meta("s"),
        subsets: [
          {
            addresses: [{ ip: "10.0.0.1" }],
            notReadyAddresses: [{ ip: "10.0.0.2" }],
            ports: [{ name: "http", port: 8080, protocol: "TCP" }],
          },
        ],
      },
      [
        'kube_endpoint_address{namespace="ns",endpoint="s",port_protocol="TCP",port_number="8080",port_name="http",ip="10.0.0.1",ready="true"} 1',
        'kube_endpoint_address{namespace="ns",endpoint="s",port_protocol="TCP",port_number="8080",port_name="http",ip="10.0.0.2",ready="false"} 1',
        'kube_endpoint_address_available{namespace="ns",endpoint="s"} 1',
        'kube_endpoint_address_not_ready{namespace="ns",endpoint="s"} 1',
      ],
    ],
    [
      "endpoints without addresses",
      "endpoints",
      { metadata: meta("s") },
      ['kube_endpoint_address_available{namespace="ns",endpoint="s"} 0'],
    ],
    [
      "an ingress",
      "ingresses.networking.k8s.io",
      {
        metadata: meta("i"),
        spec: {
          rules: [
            {
              host: "a.b",
              http: { paths: [{ path: "/", backend: { service: { name: "s", port: { number: 80 } } } }] },
            },
          ],
        },
      },
      ['kube_ingress_path{namespace="ns",ingress="i",host="a.b",path="/",service_name="s",service_port="80"} 1'],
    ],
    [
      "a network policy",
      "networkpolicies.networking.k8s.io",
      { metadata: meta("np"), spec: { ingress: [{}, {}] } },
      ['kube_networkpolicy_spec_ingress_rules{namespace="ns",networkpolicy="np"} 2'],
    ],
    [
      "a node",
      "nodes",
      {
        metadata: { name: "n1", labels: { "node-role.kubernetes.io/control-plane": "" } },
        spec: { unschedulable: true, taints: [{ key: "k", value: "v", effect: "NoSchedule" }] },
        status: {
          addresses: [{ type: "InternalIP", address: "172.18.0.2" }],
          nodeInfo: { kubeletVersion: "v1.34.2" },
          capacity: { cpu: "8", memory: "32Gi", pods: "110", "ephemeral-storage": "100Gi" },
          allocatable: { cpu: "7900m" },
          conditions: [
            { type: "Ready", status: "Unknown" },
            { type: "MemoryPressure", status: "False" },
          ],
        },
      },
      [
        'kube_node_info{node="n1",kubelet_version="v1.34.2",kubeproxy_version="deprecated",internal_ip="172.18.0.2"} 1',
        'kube_node_spec_unschedulable{node="n1"} 1',
        'kube_node_spec_taint{node="n1",key="k",value="v",effect="NoSchedule"} 1',
        'kube_node_role{node="n1",role="control-plane"} 1',
        'kube_node_status_condition{node="n1",condition="Ready",status="unknown"} 1',
        'kube_node_status_condition{node="n1",condition="Ready",status="true"} 0',
        'kube_node_status_condition{node="n1",condition="MemoryPressure",status="false"} 1',
        'kube_node_status_capacity{node="n1",resource="pods",unit="integer"} 110',
        'kube_node_status_capacity{node="n1",resource="ephemeral_storage",unit="byte"} 107374182400',
        'kube_node_status_allocatable{node="n1",resource="cpu",unit="core"} 7.9',
      ],
    ],
    [
      "a namespace",
      "namespaces",
      { metadata: { name: "ns" }, status: { phase: "Terminating" } },
      ['kube_namespace_status_phase{namespace="ns",phase="Terminating"} 1'],
    ],
    [
      "a quota",
      "resourcequotas",
      { metadata: meta("q"), status: { hard: { "requests.cpu": "2" }, used: { "requests.cpu": "1500m" } } },
      [
        'kube_resourcequota{namespace="ns",resourcequota="q",resource="requests.cpu",type="hard"} 2',
        'kube_resourcequota{namespace="ns",resourcequota="q",resource="requests.cpu",type="used"} 1.5',
      ],
    ],
    [
      "a limit range",
      "limitranges",
      { metadata: meta("l"), spec: { limits: [{ type: "Container", defaultRequest: { cpu: "100m" } }] } },
      [
        'kube_limitrange{namespace="ns",limitrange="l",resource="cpu",type="Container",constraint="defaultRequest"} 0.1',
      ],
    ],
    [
      "a volume",
      "persistentvolumes",
      {
        metadata: { name: "pv" },
        spec: { capacity: { storage: "1Gi" }, claimRef: { namespace: "ns", name: "c" } },
        status: { phase: "Bound" },
      },
      [
        'kube_persistentvolume_status_phase{persistentvolume="pv",phase="Bound"} 1',
        'kube_persistentvolume_status_phase{persistentvolume="pv",phase="Failed"} 0',
        'kube_persistentvolume_capacity_bytes{persistentvolume="pv"} 1073741824',
        'kube_persistentvolume_claim_ref{persistentvolume="pv",claim_namespace="ns",name="c"} 1',
      ],
    ],
    [
      "a claim",
      "persistentvolumeclaims",
      {
        metadata: meta("c"),
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        status: { phase: "Pending" },
      },
      [
        'kube_persistentvolumeclaim_status_phase{namespace="ns",persistentvolumeclaim="c",phase="Pending"} 1',
        'kube_persistentvolumeclaim_access_mode{namespace="ns",persistentvolumeclaim="c",access_mode="ReadWriteOnce"} 1',
        'kube_persistentvolumeclaim_resource_requests_storage_bytes{namespace="ns",persistentvolumeclaim="c"} 1073741824',
      ],
    ],
    [
      "a storage class",
      "storageclasses.storage.k8s.io",
      { metadata: { name: "standard" }, provisioner: "p" },
      ['kube_storageclass_info{storageclass="standard",provisioner="p"} 1'],
    ],
    [
      "a config map",
      "configmaps",
      { metadata: meta("cm", { resourceVersion: "42" }) },
      [
        'kube_configmap_info{namespace="ns",configmap="cm"} 1',
        'kube_configmap_metadata_resource_version{namespace="ns",configmap="cm"} 42',
      ],
    ],
    [
      "a secret",
      "secrets",
      { metadata: meta("s"), type: "Opaque" },
      ['kube_secret_type{namespace="ns",secret="s",type="Opaque"} 1'],
    ],
  ])("shows %s", (_name, resource, object, expected) => {
    const actual = samples(resource, object);
    for (const line of expected) expect(actual).toContain(line);
    const keys = actual.map((line) => line.slice(0, line.lastIndexOf(" ")));
    expect(new Set(keys).size, "no series twice").toBe(keys.length);
  });

  it("never shows the content of a secret", () => {
    const text = samples("secrets", { metadata: meta("s"), type: "Opaque", data: { password: "aHVudGVyMg==" } }).join(
      "\n",
    );
    expect(text).not.toMatch(/password|aHVudGVy/);
  });

  it.each(KUBE_STATE_KINDS.map(({ resource }) => resource))("takes a %s without spec or status", (resource) => {
    expect(() =>
      samples(resource, { metadata: meta("x"), ...(resource === "secrets" ? {} : { spec: {} }) }),
    ).not.toThrow();
  });
});
