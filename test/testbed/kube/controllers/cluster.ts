/** A cluster for tests: API server, controllers and clock, in one call. */
import { VirtualClock } from "../../../../testbed/clock.js";
import { type ControllerOptions, nodeSpecs, startControllers } from "../../../../testbed/kube/controllers/index.js";
import type { GroupResource, KubeObject } from "../../../../testbed/kube/objects.js";
import { type ContainerRuntime, idleRuntime, type Kubelet } from "../../../../testbed/kube/runtime.js";
import { ApiServer } from "../../../../testbed/kube/server.js";
import { Random } from "../../../../testbed/random.js";

export const START = Date.parse("2026-12-01T12:00:00Z");

export interface Cluster {
  api: ApiServer;
  clock: VirtualClock;
  kubelet: Kubelet;
  stop(): void;
  /** Events as `Reason: message`, in the order they were first recorded. */
  events(name?: string): string[];
  pods(prefix?: string): KubeObject[];
  get(resource: GroupResource, name: string): any;
}

/** Profile `containerd` with one schedulable node more than `nodes` when not `kwok` (the control plane's). */
export function cluster(options: ControllerOptions & { count?: number; seed?: string } = {}): Cluster {
  const clock = new VirtualClock(START);
  const api = new ApiServer({ clock, random: new Random(options.seed ?? "test") });
  const profile = options.profile ?? "containerd";
  const count = (options.count ?? 3) + (profile === "containerd" ? 1 : 0);
  const { kubelet, stop } = startControllers(api, { nodes: nodeSpecs(count, profile), ...options });
  clock.settle();
  return {
    api,
    clock,
    kubelet,
    stop,
    events: (name) =>
      [...api.list("events", "default")]
        .sort((a, b) => Number(nano(a)) - Number(nano(b)))
        .filter((event) => name === undefined || event.involvedObject.name === name)
        .map((event) => `${event.reason}: ${event.message}`),
    pods: (prefix = "") => api.list("pods", "default").filter((pod) => pod.metadata.name.startsWith(prefix)),
    get: (resource, name) => api.get(resource, "default", name),
  };
}

function nano(event: KubeObject): bigint {
  return BigInt(`0x${event.metadata.name.split(".").at(-1)}`);
}

/** A runtime that does what `idleRuntime` does, but for what is given. */
export function runtime(overrides: Partial<ContainerRuntime>): ContainerRuntime {
  return { ...idleRuntime, ...overrides };
}

export function deployment(name: string, spec: any = {}, container: any = {}): KubeObject {
  const { template, ...rest } = spec;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "main", image: "shop/main:1", ...container }], ...template },
      },
      ...rest,
    },
  };
}

export function pod(name: string, spec: any = {}, metadata: any = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", ...metadata },
    spec: { containers: [{ name: "main", image: "shop/main:1" }], ...spec },
  };
}
