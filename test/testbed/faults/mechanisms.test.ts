import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../../paths.js";
import { findMechanism, mechanisms } from "../../../testbed/faults/index.js";
import { demoWorld, deployment, flagMap, NAMESPACE, service, type World } from "./world.js";

const SHARED = packageFile("..", "shared", "data", "itbench");

const env = (name: string, value: string, container = "checkout") => ({
  kubernetesObject: deployment("checkout"),
  container: { name: container, env: { name, value } },
});
const ENV = "modified-kubernetes-workload-container-environment-variable";
const IMAGE = "nonexistent-kubernetes-workload-container-image";
const COMMAND = "invalid-kubernetes-workload-container-command";
const ZERO = "scaled-to-zero-kubernetes-workload";
const PORT = "modified-target-port-kubernetes-service";
const SELECTOR = "invalid-kubernetes-service-selector";
const DELETED = "deleted-kubernetes-service";
const FLAG = "opentelemetry-demo-feature-flag";

describe("the list", () => {
  it("has each mechanism once, with a description", () => {
    expect(new Set(mechanisms.map(({ id }) => id)).size).toBe(mechanisms.length);
    for (const { id, description } of mechanisms) {
      expect(findMechanism(id)?.id).toBe(id);
      expect(description.length).toBeGreaterThan(10);
    }
    expect(findMechanism("nope")).toBeUndefined();
  });

  it.skipIf(!existsSync(SHARED))(
    "takes every argument that ITBench's scenarios give (skipped without ../shared)",
    () => {
      let count = 0;
      for (const name of readdirSync(`${SHARED}/scenarios`)) {
        const { disruptions } = JSON.parse(readFileSync(`${SHARED}/scenarios/${name}`, "utf8"));
        for (const { injections, waitFor } of disruptions) {
          for (const { id, args } of [
            ...injections,
            ...(waitFor?.preInjection ?? []),
            ...(waitFor?.postInjection ?? []),
          ]) {
            const mechanism = findMechanism(id);
            if (mechanism === undefined) continue;
            count++;
            expect(mechanism.args.safeParse(args).success, `${name} ${id}`).toBe(true);
          }
        }
      }
      expect(count).toBeGreaterThan(30);
    },
  );

  it.skipIf(!existsSync(SHARED))("asks for what ITBench's schemas require (skipped without ../shared)", () => {
    for (const name of readdirSync(`${SHARED}/faults`)) {
      const { id, arguments: given } = JSON.parse(readFileSync(`${SHARED}/faults/${name}`, "utf8"));
      const mechanism = findMechanism(id);
      if (mechanism === undefined) continue;
      const parsed = mechanism.args.safeParse({});
      expect(parsed.success).toBe(false);
      const asked = parsed.error!.issues.map((issue) => issue.path[0]).sort();
      expect(asked, id).toEqual([...given.jsonSchema.required].sort());
    }
  });
});

describe("arguments of another shape are refused", () => {
  it.each([
    [ZERO, { kubernetesObject: service("ad") }],
    [ZERO, { kubernetesObject: { ...deployment("ad"), kind: "DaemonSet" } }],
    [ZERO, { kubernetesObject: { ...deployment("ad"), metadata: { name: "ad" } } }],
    [PORT, { kubernetesObject: service("ad"), targetPort: "8080" }],
    [PORT, { kubernetesObject: service("ad"), targetPort: 99_999 }],
    [PORT, { kubernetesObject: service("ad"), targetPort: 80.5 }],
    [ENV, { kubernetesObject: deployment("ad"), container: { name: "ad", env: { name: "AD_PORT", value: 1 } } }],
    [
      FLAG,
      {
        kubernetesObject: { ...flagMap, metadata: { name: "other", namespace: NAMESPACE } },
        flag: { name: "a", state: "b" },
      },
    ],
  ])("%s %j", (id, args) => {
    expect(findMechanism(id)!.args.safeParse(args).success).toBe(false);
  });
});

describe("on a running demo", () => {
  const world = demoWorld("mechanisms", 2);
  const { kube } = world.cluster;
  const refusal = (id: string, args: any) => findMechanism(id)!.refuse({ kube }, findMechanism(id)!.args.parse(args));

  it.each([
    [ENV, env("NOPE", "x"), /no variable "NOPE"; it has: .*KAFKA_ADDR/],
    [ENV, env("KAFKA_ADDR", "x", "nope"), /no container "nope"; it has: checkout/],
    [ENV, env("KAFKA_ADDR", "kafka:9092"), /that value already/],
    [
      IMAGE,
      { kubernetesObject: deployment("nope"), container: { name: "x" } },
      /no Deployment "nope".*there are: accounting, ad,/,
    ],
    [
      IMAGE,
      { kubernetesObject: { ...deployment("cart"), kind: "StatefulSet" }, container: { name: "cart" } },
      /no StatefulSet "cart".*there is none/,
    ],
    [COMMAND, { kubernetesObject: deployment("flagd"), container: { name: "x" } }, /it has: flagd, flagd-ui/],
    [
      ZERO,
      { kubernetesObject: { ...deployment("ad"), metadata: { name: "ad", namespace: "other" } } },
      /in namespace "other"/,
    ],
    [PORT, { kubernetesObject: service("nope"), targetPort: 1 }, /no Service "nope"/],
    [PORT, { kubernetesObject: service("currency"), targetPort: 8080 }, /8080 already/],
    [SELECTOR, { kubernetesObject: service("nope") }, /no Service/],
    [DELETED, { kubernetesObject: service("accounting") }, /no Service "accounting"/],
    [FLAG, { kubernetesObject: flagMap, flag: { name: "nope", state: "on" } }, /no flag "nope"; there are: adFailure/],
    [
      FLAG,
      { kubernetesObject: flagMap, flag: { name: "adFailure", state: "100%" } },
      /no variant "100%"; it has: off, on/,
    ],
    ["restart-kubernetes-workload", { kubernetesObject: deployment("nope") }, /no Deployment "nope"/],
  ])("%s says why not", (id, args, reason) => {
    expect(refusal(id, args)).toMatch(reason);
  });
});

const INJECTABLE: [string, any][] = [
  [ENV, env("KAFKA_ADDR", "kafka:9999")],
  [IMAGE, { kubernetesObject: deployment("cart"), container: { name: "cart" } }],
  [COMMAND, { kubernetesObject: deployment("cart"), container: { name: "cart" } }],
  [ZERO, { kubernetesObject: deployment("accounting") }],
  [PORT, { kubernetesObject: service("ad"), targetPort: 8080 }],
  [SELECTOR, { kubernetesObject: service("currency") }],
  [DELETED, { kubernetesObject: service("currency") }],
  [FLAG, { kubernetesObject: flagMap, flag: { name: "paymentFailure", state: "100%" } }],
];

/** The parts of all objects that a user wrote. */
function written(world: World): unknown {
  const { kube } = world.cluster;
  return ["deployments.apps", "services", "configmaps"].flatMap((resource) =>
    kube.list(resource, NAMESPACE).map(({ kind, metadata, spec, data }) => {
      const { clusterIP: _a, clusterIPs: _b, ...rest } = spec ?? {};
      return [kind, metadata.name, metadata.labels, rest, data];
    }),
  );
}

describe.each(INJECTABLE)("%s", (id, args) => {
  it("holds only once injected, changes one object, names no fault in it, and is undone", () => {
    const world = demoWorld("undo", 2);
    const { kube } = world.cluster;
    const mechanism = findMechanism(id)!;
    const given = mechanism.args.parse(args);
    const before = written(world);
    expect(mechanism.refuse({ kube }, given)).toBeUndefined();
    expect(mechanism.holds({ kube }, given)).toBe(false);
    const injected = mechanism.inject({ kube }, given);
    const { kind, metadata } = args.kubernetesObject;
    expect(injected.entities).toEqual([`${NAMESPACE}/${kind}/${metadata.name}`]);
    world.minutes(2);
    expect(mechanism.holds({ kube }, given)).toBe(true);
    const after = written(world) as [string, string][];
    const changed = after.filter(
      (object) => !(before as unknown[]).some((old) => JSON.stringify(old) === JSON.stringify(object)),
    );
    expect(changed.map(([objectKind, name]) => `${objectKind}/${name}`)).toEqual(
      id === DELETED ? [] : [`${kind}/${metadata.name}`],
    );
    const resource = { Deployment: "deployments.apps", Service: "services", ConfigMap: "configmaps" }[kind as string]!;
    expect(JSON.stringify(kube.get(resource, NAMESPACE, metadata.name)?.metadata ?? {})).not.toMatch(
      /fault|inject|chaos|itbench/i,
    );
    injected.undo();
    world.minutes(2);
    expect(mechanism.holds({ kube }, given)).toBe(false);
    expect(written(world)).toEqual(before);
    world.cluster.stop();
  });
});

describe.each(INJECTABLE.filter(([id]) => [ENV, IMAGE, COMMAND].includes(id)))("%s replaces all pods", (id, args) => {
  it("as one revision, which rollout undo takes back", () => {
    const world = demoWorld("revision", 2);
    const { kube } = world.cluster;
    const { name } = args.kubernetesObject.metadata;
    const pods = () =>
      kube.list("pods", NAMESPACE).filter(({ metadata }) => metadata.labels?.["opentelemetry.io/name"] === name);
    const revision = () =>
      kube.get("deployments.apps", NAMESPACE, name)!.metadata.annotations?.["deployment.kubernetes.io/revision"];
    const [old] = pods();
    const good = kube.get("deployments.apps", NAMESPACE, name)!.spec;
    world.inject(id, args);
    world.minutes(2);
    expect(pods()).toHaveLength(1);
    expect(pods()[0]!.metadata.uid).not.toBe(old!.metadata.uid);
    expect(revision()).toBe("2");
    world.rolloutUndo(name);
    world.minutes(2);
    expect(revision()).toBe("3");
    const now = kube.get("deployments.apps", NAMESPACE, name)!;
    expect(now.spec.template.spec).toEqual(good.template.spec);
    expect(now.spec.replicas).toBe(good.replicas);
    expect(now.status.readyReplicas).toBe(1);
    expect(pods()).toHaveLength(1);
    world.cluster.stop();
  });

  it("leaves the replicas alone that somebody sets meanwhile", () => {
    const world = demoWorld("meanwhile", 2);
    const { kube } = world.cluster;
    const { name } = args.kubernetesObject.metadata;
    world.inject(id, args);
    kube.modify("deployments.apps", NAMESPACE, name, (draft) => {
      draft.spec.replicas = 3;
    });
    world.minutes(2);
    expect(kube.get("deployments.apps", NAMESPACE, name)!.spec.replicas).toBe(3);
    world.cluster.stop();
  });
});
