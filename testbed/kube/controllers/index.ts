/** The control plane's controllers, its scheduler, and the kubelets of its nodes. */
import type { KubeApi } from "../api.js";
import { type ContainerRuntime, idleRuntime, type Kubelet } from "../runtime.js";
import { startCronJobs } from "./cronjob.js";
import { startDaemonSets } from "./daemonset.js";
import { startDeployments } from "./deployment.js";
import { startDisruptionBudgets } from "./disruption.js";
import { startEndpoints } from "./endpoints.js";
import { startEndpointSlices } from "./endpointslices.js";
import { startGarbageCollector } from "./garbage.js";
import { startAutoscalers } from "./hpa.js";
import { Inventory } from "./inventory.js";
import { startJobs } from "./job.js";
import { startKubelets } from "./kubelet/index.js";
import { startFakeKubelets } from "./kwok.js";
import { startNamespaces } from "./namespaces.js";
import { createNodes, type NodeSpec } from "./node-specs.js";
import { startNodes } from "./nodes.js";
import { Plane, type Profile } from "./plane.js";
import { startPodGarbage } from "./pod-garbage.js";
import { startQuotas } from "./quota.js";
import { startReplicaSets } from "./replicaset.js";
import { startScheduler } from "./scheduler.js";
import { startServiceAccounts } from "./serviceaccounts.js";
import { startStatefulSets } from "./statefulset.js";
import { startTaintEviction } from "./taints.js";
import { createDefaultStorageClass, startVolumes } from "./volumes.js";

export { createNodes, type NodeSpec, nodeSpecs } from "./node-specs.js";
export type { Profile } from "./plane.js";

export interface ControllerOptions {
  /** What happens inside containers; idle containers when left out. Profile `kwok` never asks it. */
  runtime?: ContainerRuntime;
  /** Nodes to register at the start. */
  nodes?: NodeSpec[];
  /**
   * `containerd` (the default): kubelets that pull, start, probe and restart through the runtime. `kwok`: fake nodes
   * whose pods are ready soon after they are assigned.
   */
  profile?: Profile;
}

/**
 * Starts all controllers on `api`. They act on its clock: what needs no time is done when the clock settles. `stop` ends
 * them and every timer they hold.
 */
export function startControllers(api: KubeApi, options: ControllerOptions = {}): { kubelet: Kubelet; stop(): void } {
  const profile = options.profile ?? "containerd";
  const plane = new Plane(api, profile);
  const inventory = new Inventory(plane);
  startServiceAccounts(plane);
  startNamespaces(plane, inventory);
  startGarbageCollector(plane, inventory);
  startDeployments(plane);
  startReplicaSets(plane);
  startStatefulSets(plane);
  startDaemonSets(plane);
  startJobs(plane);
  startCronJobs(plane);
  startVolumes(plane);
  const kubelet = profile === "kwok" ? startFakeKubelets(plane) : startKubelets(plane, options.runtime ?? idleRuntime);
  const nodes = startNodes(plane, kubelet.isSilent);
  kubelet.onNode(nodes.changed);
  startTaintEviction(plane);
  startPodGarbage(plane);
  // After the taints of a node have followed its change, so that pods are not refused for one that is about to go.
  startScheduler(plane);
  startEndpoints(plane);
  startEndpointSlices(plane);
  startDisruptionBudgets(plane);
  startQuotas(plane);
  startAutoscalers(plane, profile === "kwok" ? undefined : (ref) => options.runtime?.usage(ref));
  if (profile === "containerd") createDefaultStorageClass(plane);
  if (options.nodes) createNodes(api, options.nodes);
  return { kubelet, stop: () => plane.stop() };
}
