import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../testbed/clock.js";
import { ApiServer } from "../../../testbed/kube/index.js";
import type { KubeObject } from "../../../testbed/kube/objects.js";
import { Random } from "../../../testbed/random.js";

function server(): ApiServer {
  return new ApiServer({ clock: new VirtualClock(Date.UTC(2026, 0, 1)), random: new Random("drafts") });
}

const template = {
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "main", image: "nginx:1.27", resources: { limits: { cpu: "0.5" } } }] },
};
const objects: { resource: string; object: KubeObject; status: object }[] = [
  {
    resource: "pods",
    object: { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "default" }, spec: template.spec },
    status: { phase: "Running", podIP: "10.0.0.1" },
  },
  {
    resource: "deployments.apps",
    object: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a", namespace: "default", annotations: { note: "kept" } },
      spec: { selector: { matchLabels: { app: "a" } }, template },
    },
    status: { replicas: 1, observedGeneration: 1 },
  },
];

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) frozen(item);
  }
  return value;
}

describe.each(objects)("a status of $resource written in process", ({ resource, object, status }) => {
  const options = { manager: "tester", subresource: "status" };

  it("changes the status, books it, and leaves the stored object as it was", () => {
    const kube = server();
    const before = frozen(kube.create(resource, object));
    const text = JSON.stringify(before);
    const after = kube.modify(resource, "default", "a", (draft) => Object.assign(draft, { status }), options)!;
    expect(JSON.stringify(before)).toBe(text);
    expect(after.status).toEqual(expect.objectContaining(status));
    expect({ ...after, status: 0, metadata: 0 }).toEqual({ ...before, status: 0, metadata: 0 });
    expect(after.metadata).toMatchObject({ uid: before.metadata.uid, generation: before.metadata.generation });
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    const entry = (after.metadata.managedFields as any[]).find((one) => one.manager === "tester");
    expect(entry).toMatchObject({ subresource: "status", fieldsV1: { "f:status": expect.anything() } });
    expect(Object.keys(entry.fieldsV1)).toEqual(["f:status"]);
  });

  it("is no write when nothing changes", () => {
    const kube = server();
    kube.create(resource, object);
    const once = kube.modify(resource, "default", "a", (draft) => Object.assign(draft, { status }), options);
    const twice = kube.modify(resource, "default", "a", (draft) => Object.assign(draft, { status }), options);
    expect(twice).toBe(once);
  });

  it("drops fields that the schema does not have, and refuses values of another type", () => {
    const kube = server();
    kube.create(resource, object);
    const write = (extra: object) =>
      kube.modify(
        resource,
        "default",
        "a",
        (draft) => Object.assign(draft, { status: { ...status, ...extra } }),
        options,
      );
    expect(write({ unheardOf: 1 })!.status).not.toHaveProperty("unheardOf");
    expect(() => write({ conditions: "none" })).toThrow(expect.objectContaining({ name: "StatusError" }));
  });
});
