/** A cluster with the demo in it, as the simulated environment puts it together, for tests that watch its alerts. */
import { findApplication } from "../../../testbed/apps/index.js";
import { VirtualClock } from "../../../testbed/clock.js";
import { findMechanism } from "../../../testbed/faults/index.js";
import type { KubeObject } from "../../../testbed/kube/objects.js";
import { Random } from "../../../testbed/random.js";
import { type Cluster, createCluster } from "../../../testbed/simulated/cluster.js";

export const NAMESPACE = "otel-demo";

export interface World {
  clock: VirtualClock;
  cluster: Cluster;
  minutes(count: number): void;
  /** Firing alerts as `name` or `name/service-or-pod-or-group`. */
  firing(): string[];
  names(): Set<string>;
  inject(id: string, args: Record<string, unknown>): void;
  /** Lets time pass until `done`; the minutes that took, or undefined after `limit`. */
  until(done: () => boolean, limit: number): number | undefined;
  restartAll(): void;
  rolloutUndo(deployment: string): void;
}

/** The demo, running for `warmup` virtual minutes. */
export function demoWorld(seed = "1", warmup = 10, args?: Record<string, unknown>): World {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15, 9));
  const cluster = createCluster({
    clock,
    random: new Random(seed),
    nodes: 3,
    applications: [{ application: findApplication("opentelemetry-demo"), ...(args === undefined ? {} : { args }) }],
  });
  const { kube } = cluster;
  const world: World = {
    clock,
    cluster,
    minutes: (count) => clock.advance(count * 60_000),
    firing: () =>
      cluster.rules
        .alerts()
        .filter((alert) => alert.state === "firing")
        .map(({ name, labels }) => {
          const about = labels.service_name ?? labels.pod ?? labels.deployment ?? labels.consumergroup ?? labels.job;
          return about === undefined ? name : `${name}/${about}`;
        }),
    names: () => new Set(world.firing().map((alert) => alert.split("/")[0]!)),
    inject(id, given) {
      const mechanism = findMechanism(id)!;
      const parsed = mechanism.args.parse(given);
      const refusal = mechanism.refuse({ kube }, parsed);
      if (refusal !== undefined) throw new Error(refusal);
      mechanism.inject({ kube }, parsed);
      clock.settle();
      if (!mechanism.holds({ kube }, parsed)) throw new Error(`${id} does not hold`);
    },
    until(done, limit) {
      for (let passed = 0; passed <= limit; passed += 0.5) {
        if (done()) return passed;
        clock.advance(30_000);
      }
      return undefined;
    },
    restartAll() {
      for (const { metadata } of kube.list("deployments.apps", NAMESPACE)) restart(world, metadata.name);
    },
    rolloutUndo(deployment) {
      const current = kube.get("deployments.apps", NAMESPACE, deployment)!;
      const revision = (object: KubeObject) =>
        Number(object.metadata.annotations?.["deployment.kubernetes.io/revision"]);
      const sets = kube
        .list("replicasets.apps", NAMESPACE)
        .filter((set) => set.metadata.ownerReferences?.[0]?.uid === current.metadata.uid)
        .sort((a, b) => revision(b) - revision(a));
      const template = structuredClone(sets[1]!.spec.template);
      delete template.metadata.labels["pod-template-hash"];
      kube.modify("deployments.apps", NAMESPACE, deployment, (draft) => {
        draft.spec.template = template;
      });
    },
  };
  world.minutes(warmup);
  return world;
}

function restart(world: World, name: string): void {
  world.inject("restart-kubernetes-workload", { kubernetesObject: deployment(name) });
}

export function deployment(name: string) {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: NAMESPACE } };
}
export function service(name: string) {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: NAMESPACE } };
}
export const flagMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "flagd-config", namespace: NAMESPACE },
};
