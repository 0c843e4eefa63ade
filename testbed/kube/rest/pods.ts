/** Doors of pods and service accounts: binding, eviction, tokens, and those that a simulation has not. */
import { badRequest, conflict, invalid, invalidValue, notFound, required, StatusError } from "../errors.js";
import { jsonProblem } from "../json.js";
import { timestamp } from "../objects.js";
import { selectorOf } from "../selectors.js";
import { deleteObject, updateObject } from "../writes.js";
import type { ApiResponse } from "./http.js";
import { existing } from "./reading.js";
import { answer, type Call } from "./router.js";
import { managerOf } from "./writing.js";

export function bodyOf(call: Call): any {
  try {
    return JSON.parse(call.request.body ?? "{}");
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonProblem(error, call.request.body ?? "")}`);
  }
}

/** Doors that need a container runtime or a network, which the simulation has not. */
export function refused(call: Call, subresource: string): StatusError {
  existing(call);
  return new StatusError(
    405,
    "MethodNotAllowed",
    `${subresource} is not supported: the containers of this cluster are simulated and have no processes to connect to`,
    { kind: call.target.info.resource, ...(call.target.name ? { name: call.target.name } : {}) },
  );
}

export function bind(call: Call, name: string, body: any): ApiResponse {
  const { server } = call;
  const { namespace } = call.target;
  const pods = server.registry.stored("pods")!;
  const pod = server.store.get("pods", namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods" }, name);
  const node = body?.target?.name;
  if (!node) throw invalid("", "Binding", name, [required("target.name")]);
  if (pod.metadata.deletionTimestamp)
    throw conflict(
      { group: "", resource: "pods/binding" },
      name,
      `pod ${name} is being deleted, cannot be assigned to a host`,
    );
  if (pod.spec.nodeName) {
    throw conflict(
      { group: "", resource: "pods/binding" },
      name,
      `pod ${name} is already assigned to node "${pod.spec.nodeName}"`,
    );
  }
  const now = new Date(server.clock.now()).toISOString().slice(0, 19);
  const conditions = (pod.status?.conditions ?? []).filter((c: any) => c.type !== "PodScheduled");
  const next = {
    ...pod,
    spec: { ...pod.spec, nodeName: node },
    status: {
      ...pod.status,
      conditions: [
        ...conditions,
        { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: `${now}Z` },
      ],
    },
  };
  updateObject(server, pods, pod, next, { manager: managerOf(call), internal: true, subresource: "binding" });
  return answer(call, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, 201);
}

/** Eviction deletes a pod unless a PodDisruptionBudget objects. */
export function evict(call: Call): ApiResponse {
  const { server } = call;
  const pod = existing(call);
  const options = bodyOf(call).deleteOptions ?? {};
  const budgets = server
    .list("poddisruptionbudgets.policy", pod.metadata.namespace)
    .filter((b) => selectorOf(b.spec?.selector ?? {})(pod.metadata.labels ?? {}));
  const active = pod.status?.phase === "Running" || pod.status?.phase === "Pending";
  if (active && budgets.length > 1) {
    throw new StatusError(
      500,
      "InternalError",
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  const budget = active ? budgets[0] : undefined;
  if (budget && (budget.status?.disruptionsAllowed ?? 0) < 1) {
    throw new StatusError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [
        {
          reason: "DisruptionBudget",
          message: `The disruption budget ${budget.metadata.name} needs ${budget.status?.desiredHealthy ?? 0} healthy pods and has ${budget.status?.currentHealthy ?? 0} currently`,
        },
      ],
    });
  }
  const dryRun = call.request.query.get("dryRun") === "All" || (options.dryRun ?? []).includes("All");
  if (budget && !dryRun) {
    server.modify(
      "poddisruptionbudgets.policy",
      budget.metadata.namespace,
      budget.metadata.name,
      (draft) => {
        draft.status.disruptionsAllowed--;
      },
      { manager: "kube-apiserver", subresource: "status" },
    );
  }
  deleteObject(server, call.target.info, pod, {
    ...(options.gracePeriodSeconds !== undefined ? { gracePeriodSeconds: options.gracePeriodSeconds } : {}),
    ...(dryRun ? { dryRun } : {}),
  });
  return answer(call, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, 201);
}

const MIN_TOKEN_SECONDS = 600;

/** A token for a service account; it is valid at this server. */
export function tokenFor(call: Call): any {
  const { server } = call;
  const account = existing(call);
  const body = bodyOf(call);
  const seconds = body.spec?.expirationSeconds ?? 3600;
  if (seconds < MIN_TOKEN_SECONDS) {
    throw invalid("authentication.k8s.io", "TokenRequest", "", [
      invalidValue("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"),
    ]);
  }
  const { namespace, name } = account.metadata;
  const expires = new Date(server.clock.now() + seconds * 1000).toISOString().slice(0, 19);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    iss: "https://kubernetes.default.svc.cluster.local",
    sub: `system:serviceaccount:${namespace}:${name}`,
    exp: Math.floor(server.clock.now() / 1000) + seconds,
  };
  const token = `${part({ alg: "RS256" })}.${part(claims)}.${server.random.hex(64)}`;
  server.access.addServiceAccount(token, namespace!, name);
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: timestamp(server.clock.now()) },
    spec: {
      audiences: body.spec?.audiences ?? ["https://kubernetes.default.svc.cluster.local"],
      expirationSeconds: seconds,
      boundObjectRef: body.spec?.boundObjectRef ?? null,
    },
    status: { token, expirationTimestamp: `${expires}Z` },
  };
}
