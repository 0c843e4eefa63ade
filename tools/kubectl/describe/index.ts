/** Descriptions of objects, one describer a kind; a kind without one is described field by field. */
import { resourcePath } from "../client/discovery.js";
import { listObjects } from "../client/select.js";
import type { Context } from "../context.js";
import { maskSecrets } from "../secrets.js";
import { horizontalPodAutoscaler } from "./autoscaler.js";
import * as config from "./config.js";
import type { Describer, Describing } from "./describer.js";
import { describeAny } from "./generic.js";
import * as network from "./network.js";
import { node } from "./node.js";
import { pod } from "./pod.js";
import * as storage from "./storage.js";
import * as workloads from "./workloads.js";
import { Description } from "./writer.js";

const DESCRIBERS: readonly Describer[] = [
  pod,
  node,
  horizontalPodAutoscaler,
  workloads.deployment,
  workloads.replicaSet,
  workloads.statefulSet,
  workloads.daemonSet,
  workloads.job,
  workloads.cronJob,
  network.service,
  network.endpoints,
  network.endpointSlice,
  network.ingress,
  network.networkPolicy,
  config.configMap,
  config.secret,
  config.serviceAccount,
  config.namespace,
  config.resourceQuota,
  config.limitRange,
  config.podDisruptionBudget,
  ...config.roles,
  storage.claim,
  storage.volume,
  storage.storageClass,
];

function describing(context: Context, object: any): Describing {
  const own = object.metadata?.namespace as string | undefined;
  const d: Describing = {
    context,
    async list(resource, options = {}) {
      const found = await context.discovery.find(resource);
      if (!found) return [];
      try {
        return await listObjects(
          context,
          found,
          { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector },
          options.namespace === "" ? null : (options.namespace ?? own ?? null),
        );
      } catch {
        // A description stands without what its reader may not see.
        return [];
      }
    },
    async get(resource, namespace, name) {
      const found = await context.discovery.find(resource);
      if (!found) return undefined;
      return context.client.json({ path: resourcePath(found, namespace, name) }).catch(() => undefined);
    },
    async events() {
      const selector = [`involvedObject.name=${object.metadata.name}`];
      if (own) selector.push(`involvedObject.namespace=${own}`);
      selector.push(`involvedObject.kind=${object.kind}`);
      // The kubelet reports events of nodes with the node's name for a uid.
      if (object.metadata.uid && object.kind !== "Node") selector.push(`involvedObject.uid=${object.metadata.uid}`);
      return d.list("events.v1", { fieldSelector: selector.join(","), ...(own ? {} : { namespace: "" }) });
    },
  };
  return d;
}

/** The text of `kubectl describe` for one object. */
export async function describeObject(context: Context, object: any): Promise<string> {
  const w = new Description();
  const [group, version] = String(object.apiVersion).includes("/")
    ? String(object.apiVersion).split("/")
    : ["", object.apiVersion];
  const describer = version ? DESCRIBERS.find((x) => x.kind === object.kind && x.group === group) : undefined;
  const shown = object.kind === "Secret" ? object : maskSecrets(object);
  if (describer) await describer.describe(w, shown, describing(context, object));
  else await describeAny(w, shown, describing(context, object));
  return w.toString();
}
