/** What a describer of a kind is, and what it may ask for. */
import type { Context } from "../context.js";
import type { Description } from "./writer.js";

export interface Describing {
  context: Context;
  /** Lists a resource (`pods`, `replicasets.apps`) of the object's namespace; empty when it cannot be had. */
  list(
    resource: string,
    options?: { namespace?: string; labelSelector?: string; fieldSelector?: string },
  ): Promise<any[]>;
  get(resource: string, namespace: string | undefined, name: string): Promise<any>;
  /** Events that regard the object. */
  events(): Promise<any[]>;
}

export interface Describer {
  /** `Deployment` or `HorizontalPodAutoscaler`. */
  kind: string;
  group: string;
  describe(w: Description, object: any, with_: Describing): Promise<void>;
}
