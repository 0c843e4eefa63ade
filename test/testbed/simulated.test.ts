import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createSimulatedEnvironment, InjectionError, type SimulatedEnvironment } from "../../testbed/index.js";

const environments: SimulatedEnvironment[] = [];
function environment(options: Partial<Parameters<typeof createSimulatedEnvironment>[0]> = {}): SimulatedEnvironment {
  const made = createSimulatedEnvironment({ applications: [], seed: 1, ...options });
  environments.push(made);
  return made;
}
afterEach(async () => {
  await Promise.all(environments.splice(0).map((one) => one.stop()));
});

describe("SimulatedEnvironment", () => {
  it("gives each role a kubeconfig in a folder of its own, for its owner only, and takes all away", async () => {
    const one = environment();
    await one.start();
    const paths = [
      one.endpoints("read-only").kubeconfig,
      one.endpoints("read-write").kubeconfig,
      one.adminKubeconfig(),
    ];
    expect(new Set(paths.map((path) => dirname(path))).size).toBe(3);
    for (const path of paths) {
      expect(readdirSync(dirname(path))).toEqual(["kubeconfig"]);
      expect(statSync(path).mode & 0o077).toBe(0);
    }
    await one.stop();
    expect(paths.map((path) => existsSync(dirname(path)))).toEqual([false, false, false]);
  });

  it("may be started and stopped twice, and stopped before it was started", async () => {
    const one = environment();
    await one.stop();
    const two = environment();
    await Promise.all([two.start(), two.start()]);
    await two.start();
    await two.stop();
    await two.stop();
    await expect(two.alerts()).rejects.toThrow("not started");
  });

  it("leaves nothing behind when a port is taken", async () => {
    const one = environment();
    await one.start();
    const port = Number(new URL(one.endpoints("read-only").prometheus).port);
    const two = environment({ port });
    await expect(two.start()).rejects.toThrow(/in use|EADDRINUSE/);
    expect(() => two.adminKubeconfig()).toThrow("not started");
  });

  it("refuses faults that name nothing, before anything is changed", async () => {
    const one = environment({ applications: [{ id: "opentelemetry-demo" }], warmupSeconds: 0 });
    await one.start();
    const target = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "nobody", namespace: "otel-demo" } };
    for (const injection of [
      { id: "no-such-fault", args: {} },
      { id: "scaled-to-zero-kubernetes-workload", args: { kubernetesObject: target } },
      { id: "scaled-to-zero-kubernetes-workload", args: {} },
    ]) {
      await expect(one.inject([{ injections: [injection] }])).rejects.toThrow(InjectionError);
    }
    expect((await one.workloads()).filter((workload) => workload.desired === 0)).toEqual([]);
  });

  it("runs two side by side that know nothing of each other, and twins alike to the byte", async () => {
    const demo = { applications: [{ id: "opentelemetry-demo" }], warmupSeconds: 120 };
    const [one, two] = [environment(demo), environment(demo)];
    await Promise.all([one.start(), two.start()]);
    const target = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "ad", namespace: "otel-demo" } };
    const scaled = { id: "scaled-to-zero-kubernetes-workload", args: { kubernetesObject: target } };
    expect(await two.topology()).toEqual(await one.topology());
    await one.inject([{ injections: [scaled] }]);
    const ad = async (of: SimulatedEnvironment) =>
      (await of.workloads()).find((w) => w.entity.endsWith("/ad"))?.desired;
    expect([await ad(one), await ad(two)]).toEqual([0, 1]);
  });
});
