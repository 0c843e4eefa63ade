import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../../testbed/clock.js";
import type { KubeObject } from "../../../../testbed/kube/objects.js";
import { ApiServer } from "../../../../testbed/kube/server.js";
import { Random } from "../../../../testbed/random.js";

function server(...limits: any[]): ApiServer {
  const clock = new VirtualClock(Date.parse("2026-12-01T12:00:00Z"));
  const api = new ApiServer({ clock, random: new Random("limits") });
  api.create("limitranges", {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "lr", namespace: "default" },
    spec: { limits },
  });
  return api;
}
const pod = (resources: any = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: { containers: [{ name: "main", image: "i", resources }] },
});

describe("limit ranges", () => {
  it("give containers what they do not say, and write it down", () => {
    const api = server({
      type: "Container",
      default: { cpu: "200m", memory: "128Mi" },
      defaultRequest: { cpu: "100m" },
    });
    const { spec, metadata } = api.create("pods", pod({ limits: { memory: "64Mi" } }));
    expect(spec.containers[0].resources).toEqual({
      limits: { cpu: "200m", memory: "64Mi" },
      requests: { cpu: "100m", memory: "64Mi" },
    });
    expect(metadata.annotations).toEqual({
      "kubernetes.io/limit-ranger":
        "LimitRanger plugin set: cpu request for container main; cpu limit for container main",
    });
  });

  const container = (bounds: any) => ({ type: "Container", ...bounds });
  it.each([
    [
      "too much",
      container({ max: { cpu: "1" } }),
      { limits: { cpu: "2" } },
      "maximum cpu usage per Container is 1, but limit is 2",
    ],
    [
      "no request",
      { type: "Pod", min: { memory: "1Mi" } },
      {},
      "minimum memory usage per Pod is 1Mi.  No request is specified",
    ],
    [
      "too little",
      container({ min: { cpu: "100m" } }),
      { requests: { cpu: "50m" } },
      "minimum cpu usage per Container is 100m, but request is 50m",
    ],
    [
      "too wide a range",
      container({ maxLimitRequestRatio: { cpu: "2" } }),
      { requests: { cpu: "100m" }, limits: { cpu: "300m" } },
      "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
    ],
    [
      "too much in all",
      { type: "Pod", max: { memory: "1Gi" } },
      { limits: { memory: "2Gi" } },
      "maximum memory usage per Pod is 1Gi, but limit is 2Gi",
    ],
    [
      "several things",
      container({ max: { cpu: "1", memory: "1Mi" } }),
      { limits: { cpu: "2", memory: "2Mi" } },
      "[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Mi, but limit is 2Mi]",
    ],
  ])("refuse a pod with %s", (_what, item, resources, message) => {
    expect(() => server(item).create("pods", pod(resources))).toThrow(`pods "web" is forbidden: ${message}`);
  });

  it("bound claims, and nothing elsewhere", () => {
    const api = server({ type: "PersistentVolumeClaim", max: { storage: "1Gi" } });
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data", namespace: "default" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } } },
    };
    expect(() => api.create("persistentvolumeclaims", claim)).toThrow(
      "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi",
    );
    const elsewhere = { ...claim, metadata: { name: "data", namespace: "kube-system" } };
    expect(() => api.create("persistentvolumeclaims", elsewhere)).not.toThrow();
    expect(() => api.create("pods", pod())).not.toThrow();
  });
});
