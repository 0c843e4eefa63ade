/** Owner references: who controls an object, and how a controller claims the objects that its selector matches. */
import type { KubeApi } from "../api.js";
import type { GroupResource, KubeObject, OwnerReference } from "../objects.js";
import { type LabelSelector, selects } from "./selectors.js";

export const MANAGER = "kube-controller-manager";

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

export function controllerReference(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * The objects of the owner's namespace that it controls. Orphans that match its selector are adopted, controlled ones
 * that no longer match are released; while the owner is being deleted neither happens.
 */
export function claim(
  api: KubeApi,
  owner: KubeObject,
  resource: GroupResource,
  selector: LabelSelector | undefined,
  adoptable: (object: KubeObject) => boolean = () => true,
): KubeObject[] {
  const claimed: KubeObject[] = [];
  const { namespace, uid } = owner.metadata;
  const deleting = owner.metadata.deletionTimestamp !== undefined;
  for (const object of api.list(resource, namespace)) {
    const controller = controllerOf(object);
    const matches = selects(selector, object.metadata.labels);
    if (controller !== undefined) {
      if (controller.uid !== uid) continue;
      if (matches) claimed.push(object);
      else if (!deleting) release(api, resource, object, uid ?? "");
    } else if (matches && !deleting && object.metadata.deletionTimestamp === undefined && adoptable(object)) {
      const adopted = api.modify(
        resource,
        namespace,
        object.metadata.name,
        (draft) => {
          draft.metadata.ownerReferences = [...(draft.metadata.ownerReferences ?? []), controllerReference(owner)];
        },
        { manager: MANAGER },
      );
      if (adopted !== undefined) claimed.push(adopted);
    }
  }
  return claimed;
}

function release(api: KubeApi, resource: GroupResource, object: KubeObject, ownerUid: string): void {
  api.modify(
    resource,
    object.metadata.namespace,
    object.metadata.name,
    (draft) => {
      const rest = draft.metadata.ownerReferences?.filter((reference) => reference.uid !== ownerUid) ?? [];
      if (rest.length > 0) draft.metadata.ownerReferences = rest;
      else delete draft.metadata.ownerReferences;
    },
    { manager: MANAGER },
  );
}
