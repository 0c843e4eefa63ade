/** An application that the testbed can run: its objects, its alert rules, and how it behaves. One folder each. */
import type { KubeObject } from "../kube/objects.js";

export interface Application {
  /** ITBench's id: `opentelemetry-demo`, `book-info`. */
  id: string;
  namespace: string;
  /** Everything to apply, namespace included, in order. `args` as in the scenario's environment.applications[]. */
  manifests(args?: Record<string, unknown>): KubeObject[];
  /** Prometheus rule groups (the `spec` of PrometheusRule objects), written by us in the form that ITBench's have. */
  rules(): { groups: unknown[] }[];
  /** Behaviour description that testbed/traffic interprets. */
  behaviour: import("../traffic/behaviour.js").Behaviour;
}
