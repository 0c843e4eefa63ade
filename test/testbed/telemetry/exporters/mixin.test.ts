/** The Kubernetes mixin's alerts over the exporters: quiet in health, and firing where they should. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../../../paths.js";
import {
  createRuleEngine,
  ITBENCH_FOR,
  kubernetesRules,
  loadRulesYaml,
  type RuleGroup,
} from "../../../../testbed/telemetry/rules/index.js";
import { deployment, type TestClusterOptions, testCluster } from "./support.js";

const FOLDER = join(packageRoot(), "..", "shared", "data", "itbench", "rules");
const MINUTE = 60_000;

const sets: { name: string; groups: () => RuleGroup[] }[] = [{ name: "our rules", groups: kubernetesRules }];
for (const file of ["kubernetes-mixin.yaml", "kube-state-metrics.yaml"]) {
  if (!existsSync(join(FOLDER, file))) continue;
  sets.push({
    name: file,
    groups: () => loadRulesYaml(readFileSync(join(FOLDER, file), "utf8"), { for: ITBENCH_FOR }),
  });
}

function watched(groups: RuleGroup[], options?: TestClusterOptions) {
  const cluster = testCluster(options);
  const rules = createRuleEngine({ clock: cluster.clock, store: cluster.store, groups });
  const fired = () =>
    [...new Set(rules.history().map((alert) => alert.name))].filter((name) => name !== "Watchdog").sort();
  return { ...cluster, rules, fired };
}

describe.each(sets)("$name over a cluster", ({ name, groups }) => {
  it("says nothing in health", () => {
    const { kube, clock, rules, fired } = watched(groups());
    kube.create("deployments.apps", deployment("web", { replicas: 3 }));
    clock.advance(40 * MINUTE);
    expect(fired()).toEqual([]);
    expect(rules.groups().flatMap((group) => group.rules.flatMap((rule) => rule.lastError ?? []))).toEqual([]);
  });

  if (name === "kube-state-metrics.yaml") return;

  it.each<[string, TestClusterOptions["runtime"], string[]]>([
    [
      "an image that does not exist",
      { pull: () => ({ ok: false, reason: "ErrImagePull", message: "not found" }) },
      ["KubeContainerWaiting", "KubePodNotReady"],
    ],
    [
      "a container that always crashes",
      { start: ({ init }) => (init ? {} : { exit: { afterMs: 2_000, code: 1, reason: "Error" } }) },
      ["KubePodCrashLooping"],
    ],
    [
      "a container that is never ready",
      { probe: () => ({ ok: false, message: "connection refused" }) },
      ["KubePodNotReady", "KubeDeploymentReplicasMismatch"],
    ],
  ])("notices %s", (_name, runtime, expected) => {
    const { kube, clock, fired } = watched(groups(), { runtime: runtime! });
    const readinessProbe = { tcpSocket: { port: 80 }, periodSeconds: 10 };
    kube.create("deployments.apps", deployment("web", { container: { readinessProbe } }));
    clock.advance(30 * MINUTE);
    for (const alert of expected) expect(fired()).toContain(alert);
  });

  it("notices a node that falls silent", () => {
    const { kube, kubelet, clock, fired } = watched(groups());
    kube.create("deployments.apps", deployment("web"));
    clock.advance(5 * MINUTE);
    kubelet.nodeDown("worker-1", true);
    clock.advance(30 * MINUTE);
    expect(fired()).toContain("KubeNodeNotReady");
  });

  it("clears once the image exists", () => {
    let exists = false;
    const { kube, clock, rules, fired } = watched(groups(), {
      runtime: {
        pull: () =>
          exists ? { ok: true, durationMs: 10 } : { ok: false, reason: "ErrImagePull", message: "not found" },
      },
    });
    kube.create("deployments.apps", deployment("web"));
    clock.advance(20 * MINUTE);
    expect(fired()).toContain("KubePodNotReady");
    exists = true;
    clock.advance(15 * MINUTE);
    expect(rules.alerts().filter((alert) => alert.labels.namespace === "default")).toEqual([]);
  });
});

it.skipIf(sets.length === 1)("provides what the mixin asks for, once there are objects of every kind", () => {
  const { kube, clock, rules } = watched(sets[1]!.groups(), {
    runtime: {
      pull: (image) =>
        image.includes("missing")
          ? { ok: false, reason: "ErrImagePull", message: "not found" }
          : { ok: true, durationMs: 10 },
      start: ({ pod }) =>
        pod.metadata.labels?.app === "fails" ? { exit: { afterMs: 10, code: 1, reason: "Error" } } : {},
    },
  });
  const { template, selector } = deployment("web").spec;
  const labelled = (app: string, over = {}) => ({
    ...template,
    metadata: { labels: { app } },
    spec: { ...template.spec, ...over },
  });
  const metadata = { name: "web", namespace: "default" };
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  kube.create("deployments.apps", deployment("web"));
  kube.create("deployments.apps", deployment("missing"));
  kube.create("persistentvolumeclaims", { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: claim });
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "web" } }];
  const serviceName = "web";
  const apps = "apps/v1";
  kube.create("statefulsets.apps", {
    apiVersion: apps,
    kind: "StatefulSet",
    metadata,
    spec: { serviceName, selector, template: labelled("web", { volumes }) },
  });
  kube.create("daemonsets.apps", { apiVersion: apps, kind: "DaemonSet", metadata, spec: { selector, template } });
  kube.create("jobs.batch", {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata,
    spec: { backoffLimit: 0, template: labelled("fails", { restartPolicy: "Never" }) },
  });
  kube.create("horizontalpodautoscalers.autoscaling", {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata,
    spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: apps, kind: "Deployment", name: "web" } },
  });
  kube.create("poddisruptionbudgets.policy", {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: { minAvailable: 1, selector },
  });
  kube.create("resourcequotas", { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard: { pods: "50" } } });
  clock.advance(10 * MINUTE);
  const missing = new Set(rules.missing().flatMap((entry) => entry.metrics));
  // kube-state-metrics shows labels only where it was told which; none were named.
  expect([...missing].sort()).toEqual(["kube_persistentvolumeclaim_labels"]);
});
