/**
 * Copies of stored objects for writes in process. Controllers and the kubelet write many statuses of large objects, and
 * of those only metadata and status can change: nothing else is then copied, decoded or compared.
 */
import { clone } from "./json.js";
import type { KubeObject } from "./objects.js";
import type { ResourceInfo } from "./resources.js";
import { decodeObject } from "./schema/decode.js";

/**
 * A copy of `stored` to change.
 * @param onlyStatus all but metadata and status is shared with the stored object; managedFields, the server's own
 *   books, always is
 */
export function draftOf<T extends KubeObject>(stored: T, onlyStatus: boolean): T {
  const draft: Record<string, unknown> = {};
  for (const key in stored) {
    const value: unknown = stored[key];
    if (key === "metadata") draft.metadata = metadataDraft(stored.metadata);
    else draft[key] = onlyStatus && key !== "status" ? value : clone(value);
  }
  return draft as T;
}

function metadataDraft(metadata: KubeObject["metadata"]): Record<string, unknown> {
  const draft: Record<string, unknown> = {};
  for (const key in metadata) {
    const value = (metadata as unknown as Record<string, unknown>)[key];
    draft[key] = key === "managedFields" ? value : clone(value);
  }
  return draft;
}

/** What a draft of a status asks for, as the server would write it back. @throws DecodeError */
export function decodeStatusDraft(info: ResourceInfo, stored: KubeObject, draft: KubeObject): KubeObject {
  const part = draft.status === undefined ? {} : { status: draft.status };
  const decoded = decodeObject(
    { metadata: draft.metadata, ...part },
    info.type,
    { strict: [] },
    stored.metadata.managedFields,
  );
  const object: KubeObject = { ...stored, metadata: decoded.metadata ?? {} };
  if (decoded.status === undefined) delete object.status;
  else object.status = decoded.status;
  return object;
}
