/** What every namespace is given: the default service account and the cluster's root certificate. */
import type { KubeObject } from "../objects.js";
import { MANAGER } from "./owners.js";
import { apiError, type Plane } from "./plane.js";

const ROOT_CA = "kube-root-ca.crt";

export function startServiceAccounts(plane: Plane): void {
  const certificate = rootCertificate(plane);
  const queue = plane.queue((key) => {
    const name = key.slice(1);
    const namespace = plane.api.get("namespaces", undefined, name);
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
    ensure(plane, "serviceaccounts", {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace: name },
    });
    ensure(plane, "configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: ROOT_CA,
        namespace: name,
        annotations: { "kubernetes.io/description": DESCRIPTION },
      },
      data: { "ca.crt": plane.profile === "kwok" ? "" : certificate },
    });
  });
  plane.follow("namespaces", queue);
  plane.watch("serviceaccounts", (event) => {
    if (event.type === "DELETED" && event.object.metadata.name === "default")
      queue.add(`/${event.object.metadata.namespace}`);
  });
  plane.watch("configmaps", (event) => {
    if (event.type === "DELETED" && event.object.metadata.name === ROOT_CA)
      queue.add(`/${event.object.metadata.namespace}`);
  });
}

/** What the real publisher writes beside the certificate. */
const DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

function ensure(plane: Plane, resource: string, object: KubeObject): void {
  if (plane.api.get(resource, object.metadata.namespace, object.metadata.name) !== undefined) return;
  try {
    plane.api.create(resource, object, { manager: MANAGER });
  } catch (error) {
    apiError(error);
  }
}

/** A certificate in shape only: the simulated API server has no key that it would vouch for. */
function rootCertificate(plane: Plane): string {
  const body = Buffer.from(plane.random.fork("root-ca").hex(1400), "hex").toString("base64");
  const lines = body.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
