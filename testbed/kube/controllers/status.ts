/** How controllers write what they observe. */
import type { KubeApi } from "../api.js";
import type { GroupResource, KubeObject } from "../objects.js";
import { same } from "./fields.js";
import { MANAGER } from "./owners.js";

/** Replaces the status of `object`, as it was read, where `status` says anything else. */
export function replaceStatus(api: KubeApi, resource: GroupResource, object: KubeObject, status: any): void {
  if (same(status, object.status)) return;
  const change = (draft: KubeObject) => {
    draft.status = status;
  };
  const { namespace, name } = object.metadata;
  api.modify(resource, namespace, name, change, { manager: MANAGER, subresource: "status" });
}
