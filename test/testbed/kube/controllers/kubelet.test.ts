import { describe, expect, it } from "vitest";
import { Backoff } from "../../../../testbed/kube/controllers/kubelet/backoff.js";
import { fullImageName, imageId } from "../../../../testbed/kube/controllers/kubelet/images.js";
import type { ContainerRef, StartPlan } from "../../../../testbed/kube/runtime.js";
import { type Cluster, cluster, pod, runtime } from "./cluster.js";

const SECOND = 1000;
const MINUTE = 60_000;
const pulls = { pull: () => ({ ok: true as const, durationMs: 800, sizeBytes: 1234 }) };

function run(c: Cluster, spec: any = {}, name = "web"): any {
  c.api.create("pods", pod(name, spec));
  return () => c.get("pods", name);
}
const state = (p: any, i = 0) => p.status.containerStatuses?.[i]?.state;
const condition = (p: any, type: string) => p.status.conditions.find((each: any) => each.type === type);

/** Value of `read` each time it changes while `ms` pass, seen each 100 ms. */
function history(c: Cluster, ms: number, read: () => string): string[] {
  const seen: string[] = [];
  for (let t = 0; t < ms; t += 100) {
    const value = read();
    if (seen.at(-1) !== value) seen.push(value);
    c.clock.advance(100);
  }
  return seen;
}

describe("a pod that starts", () => {
  it("tells its story in events and status", () => {
    const c = cluster({ runtime: runtime(pulls) });
    const web = run(c);
    c.clock.advance(5 * SECOND);
    expect(c.events("web")).toEqual([
      expect.stringMatching(/^Scheduled: Successfully assigned default\/web to worker-\d$/),
      'Pulling: Pulling image "shop/main:1"',
      'Pulled: Successfully pulled image "shop/main:1" in 800ms (800ms including waiting). Image size: 1234 bytes.',
      "Created: Created container: main",
      "Started: Started container main",
    ]);
    const status = web().status;
    expect(status).toMatchObject({ phase: "Running", qosClass: "BestEffort" });
    expect(status.podIP).toMatch(/^10\.244\.\d\.\d+$/);
    expect(status.hostIP).toMatch(/^172\.18\.0\./);
    expect(status.conditions.map((each: any) => `${each.type}=${each.status}`)).toEqual([
      "PodReadyToStartContainers=True",
      "Initialized=True",
      "Ready=True",
      "ContainersReady=True",
      "PodScheduled=True",
    ]);
    expect(status.containerStatuses[0]).toMatchObject({
      image: "docker.io/shop/main:1",
      ready: true,
      started: true,
      restartCount: 0,
    });
    expect(status.containerStatuses[0].containerID).toMatch(/^containerd:\/\/[0-9a-f]{64}$/);
    const event = c.api.list("events", "default").find((each) => each.reason === "Started");
    expect(event).toMatchObject({
      source: { component: "kubelet", host: web().spec.nodeName },
      involvedObject: { fieldPath: "spec.containers{main}" },
    });
  });

  it("does nothing more once it runs", () => {
    const c = cluster();
    const web = run(c);
    c.clock.advance(MINUTE);
    const before = web().metadata.resourceVersion;
    c.clock.advance(30 * MINUTE);
    expect(web().metadata.resourceVersion).toBe(before);
  });

  it("runs init containers in order, and main containers after them", () => {
    const started: string[] = [];
    const c = cluster({
      runtime: runtime({
        start: ({ container, init }: ContainerRef): StartPlan => {
          started.push(container.name);
          return init ? { exit: { afterMs: 2000, code: 0 } } : {};
        },
      }),
    });
    const init = ["first", "second"].map((name) => ({ name, image: "busybox" }));
    const web = run(c, { initContainers: init });
    c.clock.advance(3 * SECOND);
    expect(web().status.phase).toBe("Pending");
    expect(condition(web(), "Initialized")).toMatchObject({
      status: "False",
      reason: "ContainersNotInitialized",
      message: expect.stringMatching(/^containers with incomplete status: \[(first )?second\]$/),
    });
    expect(state(web())).toEqual({ waiting: { reason: "PodInitializing" } });
    c.clock.advance(10 * SECOND);
    expect(started).toEqual(["first", "second", "main"]);
    expect(web().status.initContainerStatuses.map((each: any) => each.state.terminated.reason)).toEqual([
      "Completed",
      "Completed",
    ]);
    expect(web().status.phase).toBe("Running");
  });

  it("keeps a sidecar running beside the main container", () => {
    const c = cluster();
    const web = run(c, { initContainers: [{ name: "proxy", image: "envoy", restartPolicy: "Always" }] });
    c.clock.advance(10 * SECOND);
    expect(web().status.initContainerStatuses[0].state.running).toBeDefined();
    expect(web().status.phase).toBe("Running");
  });
});

describe("images", () => {
  it.each([
    ["nginx", "docker.io/library/nginx:latest"],
    ["nginx:1.27", "docker.io/library/nginx:1.27"],
    ["grafana/k6", "docker.io/grafana/k6:latest"],
    ["ghcr.io/a/b:1", "ghcr.io/a/b:1"],
    ["localhost:5000/x", "localhost:5000/x:latest"],
  ])("%s is %s", (short, full) => {
    expect(fullImageName(short)).toBe(full);
    expect(imageId(short)).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  it("alternates between ErrImagePull and ImagePullBackOff, and recovers", () => {
    let broken = true;
    const why = "rpc error: code = NotFound desc = not found";
    const c = cluster({
      runtime: runtime({
        pull: () => (broken ? { ok: false, reason: "ErrImagePull", message: why } : { ok: true, durationMs: 500 }),
      }),
    });
    const web = run(c);
    const seen = history(c, 2 * MINUTE, () => state(web())?.waiting?.reason ?? "none");
    expect(seen.slice(0, 6)).toEqual([
      "none",
      "ContainerCreating",
      "ErrImagePull",
      "ImagePullBackOff",
      "ErrImagePull",
      "ImagePullBackOff",
    ]);
    expect(web().status.phase).toBe("Pending");
    expect(state(web()).waiting.message).toBe(`Back-off pulling image "shop/main:1": ErrImagePull: ${why}`);
    expect(c.events("web")).toEqual(
      expect.arrayContaining([
        `Failed: Failed to pull image "shop/main:1": ${why}`,
        "Failed: Error: ErrImagePull",
        'BackOff: Back-off pulling image "shop/main:1"',
        "Failed: Error: ImagePullBackOff",
      ]),
    );
    broken = false;
    c.clock.advance(6 * MINUTE);
    expect(web().status.phase).toBe("Running");
  });

  it.each([
    ["a bad name", "Bad Image", {}, "InvalidImageName"],
    ["one that may not be pulled", "absent:1", { imagePullPolicy: "Never" }, "ErrImageNeverPull"],
  ])("%s waits with its own reason", (_what, image, more, reason) => {
    const c = cluster({
      runtime: runtime({
        pull: (name) => ({ ok: false, reason: "InvalidImageName", message: `couldn't parse image name "${name}"` }),
      }),
    });
    const web = run(c, { containers: [{ name: "main", image, ...more }] });
    c.clock.advance(5 * SECOND);
    expect(state(web()).waiting.reason).toBe(reason);
    expect(c.events("web")).toContain(`Failed: Error: ${reason}`);
  });

  it("starts the other containers of a pod with one bad image", () => {
    const c = cluster({
      runtime: runtime({
        pull: (name) =>
          name === "bad" ? { ok: false, reason: "ErrImagePull", message: "no" } : { ok: true, durationMs: 1 },
      }),
    });
    const web = run(c, { containers: ["bad", "good"].map((image) => ({ name: image, image })) });
    c.clock.advance(8 * SECOND);
    expect(state(web(), 0).waiting).toBeDefined();
    expect(state(web(), 1).running).toBeDefined();
    expect(condition(web(), "Ready").message).toBe("containers with unready status: [bad]");
  });

  it("is pulled anew when the pod's image is changed in place", () => {
    const c = cluster();
    const web = run(c);
    c.clock.advance(5 * SECOND);
    c.api.modify("pods", "default", "web", (draft) => {
      draft.spec.containers[0].image = "shop/main:2";
    });
    c.clock.advance(10 * SECOND);
    expect(c.events("web")).toContain("Killing: Container main definition changed, will be restarted");
    expect(web().status.containerStatuses[0]).toMatchObject({ image: "docker.io/shop/main:2", restartCount: 1 });
  });
});

describe("a container that ends", () => {
  const crashing = (code: number, reason?: "OOMKilled") =>
    runtime({ start: () => ({ exit: { afterMs: 500, code, ...(reason ? { reason } : {}) } }) });

  it("is restarted at once, then with waits that double", () => {
    const c = cluster({ runtime: crashing(1) });
    const web = run(c);
    const starts: number[] = [];
    let restarts = -1;
    for (let t = 0; t < 12 * MINUTE; t += 250) {
      const status = web().status?.containerStatuses?.[0];
      if (status?.state.running && status.restartCount > restarts) {
        restarts = status.restartCount;
        starts.push(t);
      }
      c.clock.advance(250);
    }
    const gaps = starts.slice(1).map((at, i) => (at - (starts[i] ?? 0)) / 1000);
    expect(gaps[0]).toBeLessThan(5);
    // 10, 20, 40, 80, 160 s, each up to the kubelet's next look at the pod.
    [10, 20, 40, 80, 160].forEach((wait, i) => {
      expect(gaps[i + 1]).toBeGreaterThanOrEqual(wait);
      expect(gaps[i + 1]).toBeLessThan(wait + 20);
    });
    expect(state(web())).toEqual({
      waiting: {
        reason: "CrashLoopBackOff",
        message: `back-off 5m0s restarting failed container=main pod=web_default(${web().metadata.uid})`,
      },
    });
    expect(web().status.containerStatuses[0].lastState.terminated).toMatchObject({ exitCode: 1, reason: "Error" });
    expect(c.events("web")).toContain(
      `BackOff: Back-off restarting failed container main in pod web_default(${web().metadata.uid})`,
    );
    expect(web().status.phase).toBe("Running");
  });

  it("forgets its failures after ten good minutes", () => {
    const backoff = new Backoff();
    for (const at of [0, 1000, 12_000]) backoff.next(at, at);
    expect(backoff.delay).toBe(40_000);
    expect(backoff.left(12_000 + 11 * MINUTE, 12_000 + 11 * MINUTE)).toBe(0);
    backoff.next(12_000 + 11 * MINUTE, 12_000 + 11 * MINUTE);
    expect(backoff.delay).toBe(10_000);
  });

  it.each([
    ["Always", 0, "Running", true],
    ["OnFailure", 0, "Succeeded", false],
    ["OnFailure", 1, "Running", true],
    ["Never", 0, "Succeeded", false],
    ["Never", 3, "Failed", false],
  ])("with restart policy %s and exit code %i the pod is %s", (restartPolicy, code, phase, restarted) => {
    const c = cluster({ runtime: crashing(code) });
    const web = run(c, { restartPolicy });
    c.clock.advance(30 * SECOND);
    expect(web().status.phase).toBe(phase);
    expect(web().status.containerStatuses[0].restartCount > 0).toBe(restarted);
    if (!restarted) {
      expect(state(web()).terminated).toMatchObject({ exitCode: code, reason: code === 0 ? "Completed" : "Error" });
      expect(condition(web(), "Ready").reason).toBe(phase === "Succeeded" ? "PodCompleted" : "PodFailed");
    }
  });

  it("can be killed for its memory, and by the application", () => {
    const c = cluster();
    const web = run(c);
    c.clock.advance(5 * SECOND);
    c.kubelet.crash("default", "web", "main", { code: 137, reason: "OOMKilled" });
    c.clock.settle();
    expect(state(web()).terminated).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
    expect(condition(web(), "Ready").status).toBe("False");
    c.clock.advance(5 * SECOND);
    expect(web().status.containerStatuses[0]).toMatchObject({
      restartCount: 1,
      ready: true,
      lastState: { terminated: { reason: "OOMKilled" } },
    });
  });

  it("is restarted even when it dies while it is being stopped", () => {
    const c = cluster({
      runtime: runtime({ probe: (_ref, kind) => ({ ok: kind !== "liveness" }), terminationMs: () => 9000 }),
    });
    const livenessProbe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 1 };
    const web = run(c, { containers: [{ name: "main", image: "i", livenessProbe }] });
    c.clock.advance(3 * SECOND);
    expect(c.events("web").some((each) => each.startsWith("Killing"))).toBe(true);
    c.kubelet.crash("default", "web", "main", { code: 2 });
    c.clock.advance(4 * SECOND);
    expect(web().status.containerStatuses[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 2 } },
    });
  });

  it("reports a process that cannot be started as StartError", () => {
    const message = 'failed to create containerd task: exec: "nope": executable file not found in $PATH';
    const c = cluster({
      runtime: runtime({ start: () => ({ startError: { reason: "RunContainerError", message } }) }),
    });
    const web = run(c);
    const seen = history(c, MINUTE, () => state(web())?.waiting?.reason ?? "none");
    expect(seen.slice(0, 4)).toEqual(["none", "ContainerCreating", "RunContainerError", "CrashLoopBackOff"]);
    expect(web().status.containerStatuses[0].lastState.terminated).toMatchObject({
      exitCode: 128,
      reason: "StartError",
      message,
      startedAt: "1970-01-01T00:00:00Z",
    });
    expect(c.events("web")).toContain(`Failed: Error: ${message}`);
  });

  it("fails as a whole past its deadline", () => {
    const c = cluster();
    const web = run(c, { activeDeadlineSeconds: 20 });
    c.clock.advance(MINUTE);
    expect(web().status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  });
});

describe("what a pod needs", () => {
  const env = (valueFrom: any) => [{ name: "X", valueFrom }];
  it.each([
    ["a ConfigMap", { env: env({ configMapKeyRef: { name: "c", key: "k" } }) }, 'configmap "c" not found'],
    ["a Secret", { env: env({ secretKeyRef: { name: "s", key: "k" } }) }, 'secret "s" not found'],
    ["a whole ConfigMap", { envFrom: [{ configMapRef: { name: "c" } }] }, 'configmap "c" not found'],
    [
      "a key",
      { env: env({ configMapKeyRef: { name: "kube-root-ca.crt", key: "k" } }) },
      "couldn't find key k in ConfigMap default/kube-root-ca.crt",
    ],
  ])("waits for %s that its environment names", (_what, more, message) => {
    const c = cluster();
    const web = run(c, { containers: [{ name: "main", image: "i", ...more }] });
    c.clock.advance(10 * SECOND);
    expect(state(web()).waiting).toEqual({ reason: "CreateContainerConfigError", message });
    expect(c.events("web")).toContain(`Failed: Error: ${message}`);
  });

  it("starts without what is optional, and once the missing is there", () => {
    const c = cluster();
    const optional = run(c, {
      containers: [{ name: "main", image: "i", envFrom: [{ secretRef: { name: "s", optional: true } }] }],
    });
    const needy = run(
      c,
      { containers: [{ name: "main", image: "i", envFrom: [{ secretRef: { name: "s" } }] }] },
      "needy",
    );
    c.clock.advance(10 * SECOND);
    expect(optional().status.phase).toBe("Running");
    expect(needy().status.phase).toBe("Pending");
    c.api.create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "default" } });
    c.clock.advance(30 * SECOND);
    expect(needy().status.phase).toBe("Running");
  });

  it("stays in ContainerCreating without a volume's source", () => {
    const c = cluster();
    const web = run(c, { volumes: [{ name: "v", configMap: { name: "settings" } }] });
    c.clock.advance(20 * SECOND);
    expect(state(web())).toEqual({ waiting: { reason: "ContainerCreating" } });
    expect(c.events("web")).toContain(
      'FailedMount: MountVolume.SetUp failed for volume "v" : configmap "settings" not found',
    );
    expect(condition(web(), "PodReadyToStartContainers").status).toBe("False");
    c.api.create("configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace: "default" },
    });
    c.clock.advance(3 * MINUTE);
    expect(web().status.phase).toBe("Running");
  });
});

describe("probes", () => {
  const probe = (more: any = {}) => ({ httpGet: { path: "/", port: 80 }, periodSeconds: 5, ...more });
  function probed(kind: string, more: any = {}) {
    const answers: Record<string, boolean> = { liveness: true, readiness: true, startup: true };
    const c = cluster({
      runtime: runtime({
        probe: (_ref, asked) =>
          answers[asked] ? { ok: true } : { ok: false, message: "HTTP probe failed with statuscode: 503" },
      }),
    });
    const web = run(c, { containers: [{ name: "main", image: "i", [`${kind}Probe`]: probe(more) }] });
    return { c, web, answers };
  }

  it("readiness takes a pod out after the threshold, and back", () => {
    const { c, web, answers } = probed("readiness", { failureThreshold: 3 });
    c.clock.advance(10 * SECOND);
    expect(condition(web(), "Ready").status).toBe("True");
    answers.readiness = false;
    c.clock.advance(9 * SECOND);
    expect(condition(web(), "Ready").status).toBe("True");
    c.clock.advance(7 * SECOND);
    expect(condition(web(), "Ready")).toMatchObject({
      status: "False",
      reason: "ContainersNotReady",
      message: "containers with unready status: [main]",
    });
    expect(web().status.containerStatuses[0]).toMatchObject({ ready: false, restartCount: 0 });
    expect(c.events("web")).toContain("Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503");
    answers.readiness = true;
    c.clock.advance(6 * SECOND);
    expect(condition(web(), "Ready").status).toBe("True");
  });

  it.each(["liveness", "startup"])("%s restarts the container after the threshold", (kind) => {
    const { c, web, answers } = probed(kind, { failureThreshold: 2 });
    answers[kind] = false;
    c.clock.advance(13 * SECOND);
    expect(c.events("web")).toContain(`Killing: Container main failed ${kind} probe, will be restarted`);
    c.clock.advance(5 * SECOND);
    expect(web().status.containerStatuses[0].restartCount).toBe(1);
    expect([137, 143]).toContain(web().status.containerStatuses[0].lastState.terminated.exitCode);
  });

  it("wait for the startup probe, and for the initial delay", () => {
    const { c, web, answers } = probed("startup", { failureThreshold: 30 });
    answers.startup = false;
    c.clock.advance(12 * SECOND);
    expect(web().status.containerStatuses[0]).toMatchObject({ started: false, ready: false });
    answers.startup = true;
    c.clock.advance(6 * SECOND);
    expect(web().status.containerStatuses[0]).toMatchObject({ started: true, ready: true });
    const late = probed("readiness", { initialDelaySeconds: 30 });
    late.c.clock.advance(20 * SECOND);
    expect(condition(late.web(), "Ready").status).toBe("False");
    late.c.clock.advance(20 * SECOND);
    expect(condition(late.web(), "Ready").status).toBe("True");
  });
});

describe("a pod that is deleted", () => {
  it.each([
    ["within about a second", undefined, 1500],
    ["when its process is done", 8_000, 8_100],
    ["at the end of its grace period", 90_000, 30_100],
  ])("goes %s", (_when, terminationMs, gone) => {
    const stopped: string[] = [];
    const c = cluster({
      runtime: runtime({
        ...(terminationMs === undefined ? {} : { terminationMs: () => terminationMs }),
        stopped: ({ container }) => stopped.push(container.name),
      }),
    });
    const web = run(c);
    c.clock.advance(5 * SECOND);
    c.api.delete("pods", "default", "web");
    c.clock.advance(gone - 1200);
    expect(web()?.metadata.deletionTimestamp ?? "gone").not.toBe("gone");
    c.clock.advance(1300);
    expect(web()).toBeUndefined();
    expect(stopped).toEqual(["main"]);
    expect(c.events("web")).toContain("Killing: Stopping container main");
  });
});

describe("a node that is lost", () => {
  it("is noticed, tainted, and emptied; its pods come back elsewhere", () => {
    const c = cluster();
    const web = run(c);
    c.clock.advance(10 * SECOND);
    const node = web().spec.nodeName;
    c.kubelet.nodeDown(node, true);
    c.clock.advance(MINUTE);
    const lost: any = c.api.get("nodes", undefined, node);
    expect(condition(lost, "Ready")).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
    });
    expect(lost.spec.taints.map((taint: any) => `${taint.key}:${taint.effect}`)).toEqual([
      "node.kubernetes.io/unreachable:NoSchedule",
      "node.kubernetes.io/unreachable:NoExecute",
    ]);
    expect(condition(web(), "Ready").status).toBe("False");
    expect(c.events("web")).toContain("NodeNotReady: Node is not ready");
    c.clock.advance(5 * MINUTE);
    expect(web().metadata.deletionTimestamp).toBeDefined();
    expect(c.events("web")).toContain("TaintManagerEviction: Marking for deletion Pod default/web");
    c.kubelet.nodeDown(node, false);
    c.clock.advance(10 * SECOND);
    expect(web()).toBeUndefined();
    const back: any = c.api.get("nodes", undefined, node);
    expect(condition(back, "Ready").status).toBe("True");
    expect(back.spec.taints).toBeUndefined();
    expect(c.events(node)).toEqual(
      expect.arrayContaining([
        `NodeNotReady: Node ${node} status is now: NodeNotReady`,
        `NodeReady: Node ${node} status is now: NodeReady`,
      ]),
    );
  });

  it("restarts its containers when it comes back in time", () => {
    const c = cluster();
    const web = run(c);
    c.clock.advance(10 * SECOND);
    c.kubelet.nodeDown(web().spec.nodeName, true);
    c.clock.advance(2 * MINUTE);
    c.kubelet.nodeDown(web().spec.nodeName, false);
    c.clock.advance(10 * SECOND);
    expect(condition(web(), "Ready").status).toBe("True");
    expect(web().status.containerStatuses[0].restartCount).toBe(1);
  });
});

it.each(["kwok", "containerd"] as const)("%s ends with its controllers: nothing is left on the clock", (profile) => {
  for (const ms of [0, 100, 1000, 10_000]) {
    const c = cluster({ profile });
    run(c);
    c.clock.advance(ms);
    c.stop();
    c.api.delete("pods", "default", "web");
    expect(c.clock.next()).toBeUndefined();
  }
});
