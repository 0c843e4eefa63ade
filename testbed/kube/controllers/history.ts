/** Controller revisions: the past templates of stateful sets and daemon sets. */
import type { KubeApi } from "../api.js";
import type { KubeObject } from "../objects.js";
import { same } from "./fields.js";
import { controllerReference, isControlledBy, MANAGER } from "./owners.js";
import { createdAt } from "./plane.js";
import { dataHash, templateHash } from "./template-hash.js";

const REVISIONS = "controllerrevisions.apps";

export interface History {
  /** Oldest first. */
  revisions: KubeObject[];
  /** The one that the workload's template is at now. */
  update: KubeObject;
}

/**
 * The workload's revisions, after a new one was made for a template that is new, or an old one was raised to the top
 * for a template that is back.
 * @param hashLabel label under which the revision carries its hash
 */
export function syncHistory(api: KubeApi, owner: KubeObject, hashLabel: string): History {
  const revisions = list(api, owner);
  const data = { spec: { template: { ...structuredClone(owner.spec.template), $patch: "replace" } } };
  const next = (revisions.at(-1)?.revision ?? 0) + 1;
  const equal = revisions.filter((revision) => same(revision.data, data)).at(-1);
  if (equal !== undefined) {
    if (equal === revisions.at(-1)) return { revisions, update: equal };
    const raise = (draft: KubeObject) => {
      draft.revision = next;
    };
    api.modify(REVISIONS, owner.metadata.namespace, equal.metadata.name, raise, { manager: MANAGER });
  } else {
    const collisions = owner.status?.collisionCount ?? 0;
    const hash =
      owner.kind === "DaemonSet" ? templateHash(owner.spec.template, collisions) : dataHash(data, collisions);
    api.create(
      REVISIONS,
      {
        apiVersion: "apps/v1",
        kind: "ControllerRevision",
        metadata: {
          name: `${owner.metadata.name}-${hash}`,
          namespace: owner.metadata.namespace ?? "",
          labels: { ...owner.spec.template.metadata?.labels, [hashLabel]: hash },
          ...(owner.metadata.annotations ? { annotations: { ...owner.metadata.annotations } } : {}),
          ownerReferences: [controllerReference(owner)],
        },
        data,
        revision: next,
      },
      { manager: MANAGER },
    );
  }
  const now = list(api, owner);
  return { revisions: now, update: now.at(-1) as KubeObject };
}

/** Deletes revisions beyond the history limit that no pod is at any more. */
export function truncateHistory(api: KubeApi, owner: KubeObject, history: History, inUse: Set<string>): void {
  const idle = history.revisions.filter(
    (revision) => revision !== history.update && !inUse.has(revision.metadata.name),
  );
  const surplus = idle.length - (owner.spec.revisionHistoryLimit ?? 10);
  for (const revision of idle.slice(0, Math.max(0, surplus))) {
    api.delete(REVISIONS, owner.metadata.namespace, revision.metadata.name);
  }
}

/** The workload as it was at a revision. */
export function templateAt(revision: KubeObject): any {
  const { $patch: _, ...template } = revision.data.spec.template;
  return template;
}

function list(api: KubeApi, owner: KubeObject): KubeObject[] {
  return api
    .list(REVISIONS, owner.metadata.namespace)
    .filter((revision) => isControlledBy(revision, owner))
    .sort((a, b) => a.revision - b.revision || createdAt(a) - createdAt(b));
}
