import { beforeEach, describe, expect, it } from "vitest";
import { findApplication } from "../../../testbed/apps/index.js";
import type { VirtualClock } from "../../../testbed/clock.js";
import { Random } from "../../../testbed/random.js";
import { createLogStore } from "../../../testbed/telemetry/log-store.js";
import { type AppRuntime, createAppRuntime } from "../../../testbed/traffic/index.js";
import { type FakeKube, fakeKube, podObject, serviceObject, sliceObject } from "./fake-kube.js";

const IMAGE = "ghcr.io/open-telemetry/demo:3.0.0";
let kube: FakeKube;
let clock: VirtualClock;
let runtime: AppRuntime;
let ended: { container: string; code: number }[];

beforeEach(() => {
  kube = fakeKube();
  clock = kube.clock;
  ended = [];
  runtime = createAppRuntime({
    applications: [findApplication("opentelemetry-demo")],
    kube,
    clock,
    random: new Random(1),
    logs: createLogStore(),
  });
  runtime.connect({
    crash: (_namespace, _pod, container, { code }) => void ended.push({ container, code }),
    nodeDown: () => {},
  });
});

/** Starts a pod's only container. */
function start(name: string, container: Record<string, unknown>, more: Record<string, any> = {}, restarts = 0) {
  const pod = podObject(name, container, more);
  kube.put("pods", pod);
  return { pod, plan: runtime.start({ pod, container: pod.spec.containers[0], init: false, restarts }) };
}

function lines(pod: any, previous = false): string[] {
  return (runtime.logs({ pod, container: pod.spec.containers[0].name, previous }) ?? []).map(({ line }) => line);
}

function reachable(service: string, port: number): void {
  kube.put("services", serviceObject(service, [{ name: "p", port, targetPort: port }]));
  const endpoints = [{ addresses: ["10.1.0.1"], targetRef: { uid: `uid-${service}` } }];
  kube.put("endpointslices.discovery.k8s.io", sliceObject(service, [{ name: "p", port }], endpoints));
}

describe("starting a container", () => {
  it("runs the image's program, which listens where its variables say", () => {
    const { pod, plan } = start("currency", {
      image: `${IMAGE}-currency`,
      env: [{ name: "CURRENCY_PORT", value: "7001" }],
    });
    expect(plan).toEqual({});
    expect([...runtime.processes.get("uid-currency/currency")!.ports.keys()]).toEqual([7001]);
    expect(lines(pod)).toEqual(["Currency Server listening on port: 0.0.0.0:7001"]);
  });

  it.each<[string, Record<string, unknown>, object]>([
    [
      "an executable by path that is not there",
      { image: `${IMAGE}-currency`, command: ["/bin/nope"] },
      {
        startError: {
          reason: "RunContainerError",
          message: expect.stringMatching(
            /runc create failed.*exec: "\/bin\/nope": stat \/bin\/nope: no such file or directory$/,
          ),
        },
      },
    ],
    [
      "an executable by name that is not there",
      { image: `${IMAGE}-currency`, command: ["nope"] },
      { startError: { message: expect.stringMatching(/exec: "nope": executable file not found in \$PATH$/) } },
    ],
    ["a missing variable, in Go", { image: `${IMAGE}-product-catalog` }, { exit: { code: 2, reason: "Error" } }],
    ["a missing variable, in Python", { image: `${IMAGE}-recommendation` }, { exit: { code: 1, reason: "Error" } }],
    [
      "too little memory",
      { image: `${IMAGE}-ad`, env: [{ name: "AD_PORT", value: "1" }], resources: { limits: { memory: "100Mi" } } },
      { exit: { code: 137, reason: "OOMKilled" } },
    ],
    [
      "a dependency that is not there",
      { image: `${IMAGE}-cart`, env: [{ name: "VALKEY_ADDR", value: "valkey:6379" }] },
      { exit: { code: 1, afterMs: 30_000 } },
    ],
    ["a shell without a terminal", { image: "busybox" }, { exit: { code: 0, reason: "Completed" } }],
    ["a script", { image: "busybox", command: ["sh", "-c", "exit 4"] }, { exit: { code: 4, reason: "Error" } }],
    ["an image of nobody's program", { image: "nginx:1.27" }, {}],
  ])("with %s", (_, container, wanted) => {
    expect(start("it", container).plan).toMatchObject(wanted);
  });

  it("says which variable is missing", () => {
    const { pod } = start("product-catalog", {
      image: `${IMAGE}-product-catalog`,
      env: [{ name: "PRODUCT_CATALOG_PORT", value: "1" }],
    });
    expect(lines(pod)[0]).toBe('panic: environment variable "DB_CONNECTION_STRING" not set');
  });

  it("goes on without what it can do without, and remembers it", () => {
    const names = ["SHIPPING_ADDR", "PRODUCT_CATALOG_ADDR", "CART_ADDR", "CURRENCY_ADDR", "EMAIL_ADDR", "PAYMENT_ADDR"];
    const env = [
      ...names.map((name) => ({ name, value: "x:1" })),
      { name: "CHECKOUT_PORT", value: "1" },
      { name: "KAFKA_ADDR", value: "kafka:9999" },
    ];
    const { pod, plan } = start("checkout", { image: `${IMAGE}-checkout`, env });
    expect(plan).toEqual({});
    expect([...runtime.processes.get("uid-checkout/checkout")!.missing]).toEqual(["kafka"]);
    expect(lines(pod).join("\n")).toContain("failed to create Kafka producer");
  });

  it("checks the database's accounts, which its mounted scripts make", () => {
    const sql = "CREATE USER bob WITH PASSWORD 'right';\nCREATE DATABASE shop OWNER bob;";
    kube.put("configmaps", { metadata: { name: "init", namespace: "shop" }, data: { "init.sql": sql } });
    const database = {
      image: "postgres:18.4",
      env: [{ name: "POSTGRES_PASSWORD", value: "root" }],
      volumeMounts: [{ name: "init", mountPath: "/docker-entrypoint-initdb.d" }],
    };
    const volumes = [{ name: "init", configMap: { name: "init" } }];
    start("db", database, { spec: { volumes, containers: [{ name: "db", ...database }] } });
    reachable("db", 5432);
    const outcome = (url: string) =>
      start("product-catalog", {
        image: `${IMAGE}-product-catalog`,
        env: [
          { name: "PRODUCT_CATALOG_PORT", value: "1" },
          { name: "DB_CONNECTION_STRING", value: url },
        ],
      });
    expect(outcome("postgres://bob:right@db/shop").plan).toEqual({});
    expect(outcome("postgres://postgres:root@db/postgres").plan).toEqual({});
    for (const [url, text] of [
      ["postgres://bob:wrong@db/shop", 'password authentication failed for user \\"bob\\"'],
      ["postgres://eve:right@db/shop", 'password authentication failed for user \\"eve\\"'],
      ["postgres://bob:right@db/other", 'database \\"other\\" does not exist'],
      ["postgres://bob:right@nowhere/shop", "no such host"],
    ] as const) {
      const { pod, plan } = outcome(url);
      expect(plan.exit?.code, url).toBe(1);
      expect(lines(pod)[0]).toContain(text);
      expect(() => JSON.parse(lines(pod)[0]!)).not.toThrow();
    }
    const said = runtime.logs({ pod: { metadata: { uid: "uid-db" } } as any, container: "db", previous: false })!;
    expect(said.filter(({ line }) => line.includes("FATAL:  password authentication failed"))).toHaveLength(2);
  });
});

describe("an init container", () => {
  const waiter = {
    image: "busybox:latest",
    command: ["sh", "-c", "until nc -z -w30 currency 7001; do echo waiting for currency; sleep 2; done"],
  };

  it("waits until the address answers, and then ends well", () => {
    const { pod, plan } = start("waiter", waiter);
    expect(plan).toEqual({});
    clock.advance(5000);
    expect(ended).toEqual([]);
    expect(lines(pod).slice(0, 2)).toEqual(["nc: bad address 'currency'", "waiting for currency"]);
    start("currency", { image: `${IMAGE}-currency`, env: [{ name: "CURRENCY_PORT", value: "7001" }] });
    reachable("currency", 7001);
    clock.advance(2000);
    expect(ended).toEqual([{ container: "waiter", code: 0 }]);
    expect(lines(pod).at(-1)).toBe("currency (10.96.0.50:7001) open");
    clock.advance(60_000);
    expect(ended).toHaveLength(1);
  });

  it("ends at once when the address answers already", () => {
    start("currency", { image: `${IMAGE}-currency`, env: [{ name: "CURRENCY_PORT", value: "7001" }] });
    reachable("currency", 7001);
    expect(start("waiter", waiter).plan).toMatchObject({ exit: { code: 0 } });
  });

  it("waits no more once its pod is gone", () => {
    start("waiter", waiter);
    kube.drop("pods", "shop", "waiter");
    clock.advance(10_000);
    expect(ended).toEqual([]);
    expect(clock.next()).toBeUndefined();
  });
});

describe("logs", () => {
  const container = { image: `${IMAGE}-currency`, env: [{ name: "CURRENCY_PORT", value: "7001" }] };
  it("of the instance before are the previous ones", () => {
    const { pod } = start("currency", container);
    expect(runtime.logs({ pod, container: "currency", previous: true })).toBeUndefined();
    clock.advance(1000);
    runtime.stopped?.({ pod, container: pod.spec.containers[0], init: false, restarts: 0 });
    start("currency", container, {}, 1);
    expect(runtime.logs({ pod, container: "currency", previous: true })?.[0]?.timeMs).toBe(0);
    expect(runtime.logs({ pod, container: "currency", previous: false })?.[0]?.timeMs).toBe(1000);
  });

  it("go with their pod", () => {
    const { pod } = start("currency", container);
    kube.drop("pods", "shop", "currency");
    expect(runtime.logs({ pod, container: "currency", previous: false })).toBeUndefined();
    expect(runtime.processes.get("uid-currency/currency")).toBeUndefined();
  });
});

describe("use and probes", () => {
  it("are those of the running program", () => {
    const { pod } = start("currency", {
      image: `${IMAGE}-currency`,
      env: [{ name: "CURRENCY_PORT", value: "7001" }],
      resources: { limits: { memory: "20Mi" } },
    });
    const used = runtime.usage({ pod, container: "currency" })!;
    expect(used.memoryBytes).toBeGreaterThan(1e6);
    expect(used.memoryBytes).toBeLessThan(20 * 1024 * 1024);
    const ref = { pod, container: pod.spec.containers[0], init: false, restarts: 0 };
    expect(runtime.probe(ref, "readiness", { tcpSocket: { port: 7001 } })).toEqual({ ok: true });
    expect(runtime.probe(ref, "readiness", { exec: { command: ["true"] } })).toEqual({ ok: true });
    expect(runtime.probe(ref, "readiness", { httpGet: { port: 80, path: "/up" } })).toEqual({
      ok: false,
      message: 'Readiness probe failed: Get "http://10.1.0.1:80/up": dial tcp 10.1.0.1:80: connect: connection refused',
    });
    runtime.stopped?.(ref);
    expect(runtime.usage({ pod, container: "currency" })).toBeUndefined();
  });
});
