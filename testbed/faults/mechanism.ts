/** A fault mechanism: one way to break an environment by changing its state. One file each beside this one. */
import type { ZodType } from "zod";
import type { KubeApi } from "../kube/api.js";

export interface FaultContext {
  kube: KubeApi;
}

/** What an injection did, so that it can be undone and checked. */
export interface Injected {
  /** Objects changed, as `namespace/Kind/name`. */
  entities: string[];
  /** Puts back what stood before. */
  undo(): void;
}

export interface FaultMechanism<Args = any> {
  /** ITBench's id, e.g. `scaled-to-zero-kubernetes-workload`. */
  id: string;
  description: string;
  args: ZodType<Args, any, any>;
  /** Says why these arguments cannot be injected here (unknown workload, flag variant ...); undefined when they can. */
  refuse(context: FaultContext, args: Args): string | undefined;
  inject(context: FaultContext, args: Args): Injected;
  /** True once the change stands in the cluster's state. */
  holds(context: FaultContext, args: Args): boolean;
}
