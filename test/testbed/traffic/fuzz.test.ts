/** Whatever an agent writes into the cluster, time goes on: traffic meets no state that it cannot walk. */
import { expect, it } from "vitest";
import { StatusError } from "../../../testbed/kube/errors.js";
import { Random } from "../../../testbed/random.js";
import { demoWorld, NAMESPACE, type World } from "../faults/world.js";

const TEXTS = [
  "",
  "x",
  ":",
  "kafka:9092",
  "http://",
  "://:@/",
  "nobody:1",
  "cart:0",
  "cart:99999",
  "-1",
  "%",
  "postgres://a:%zz@b/c",
  "Host=;Port=x",
  "$(",
  "$(NONE):1",
  "{}",
  "null",
  "0",
  "1e9",
  "on",
  "localhost:8080",
];

/** One random change to one random object; what the API refuses is refused. */
function mutate(world: World, random: Random): string {
  const { kube } = world.cluster;
  const deployment = random.pick(kube.list("deployments.apps", NAMESPACE)).metadata.name;
  const service = random.pick(kube.list("services", NAMESPACE)).metadata.name;
  const container = (draft: any) => random.pick<any>(draft.spec.template.spec.containers);
  const kinds: [string, string, (draft: any) => void][] = [
    [
      "deployments.apps",
      deployment,
      (draft) => {
        const env = container(draft).env ?? [];
        if (env.length > 0) {
          const entry = random.pick<any>(env);
          delete entry.valueFrom;
          entry.value = random.pick(TEXTS);
        }
      },
    ],
    [
      "deployments.apps",
      deployment,
      (draft) => {
        container(draft).env = [];
      },
    ],
    [
      "deployments.apps",
      deployment,
      (draft) => {
        container(draft).image = random.pick([
          "busybox",
          "nginx:1.27",
          "nope/nope",
          "ghcr.io/open-telemetry/demo:3.0.0-cart",
          "a b",
        ]);
      },
    ],
    [
      "deployments.apps",
      deployment,
      (draft) => {
        container(draft).command = random.pick<any>([
          ["sh", "-c", "exit 1"],
          ["sleep", "30"],
          [""],
          ["nope"],
          ["sh"],
          ["sh", "-c", ""],
        ]);
      },
    ],
    [
      "deployments.apps",
      deployment,
      (draft) => {
        container(draft).resources = {
          limits: { memory: random.pick(["1Mi", "1Gi", "64M"]), cpu: random.pick(["10m", "2"]) },
        };
      },
    ],
    [
      "deployments.apps",
      deployment,
      (draft) => {
        draft.spec.replicas = random.int(4);
      },
    ],
    [
      "deployments.apps",
      deployment,
      (draft) => {
        draft.spec.template.spec.dnsPolicy = random.pick(["Default", "None", "ClusterFirst"]);
      },
    ],
    [
      "deployments.apps",
      deployment,
      (draft) => {
        delete draft.spec.template.spec.initContainers;
      },
    ],
    [
      "services",
      service,
      (draft) => {
        for (const port of draft.spec.ports) port.targetPort = random.pick<any>(["service", "nope", 1, 8080]);
      },
    ],
    [
      "services",
      service,
      (draft) => {
        draft.spec.selector = random.pick<any>([{}, { a: "b" }, { "opentelemetry.io/name": "cart" }]);
      },
    ],
    [
      "services",
      service,
      (draft) => {
        draft.spec.ports = [{ port: 1 + random.int(9000) }];
      },
    ],
    [
      "configmaps",
      "flagd-config",
      (draft) => {
        draft.data = {
          "demo.flagd.json": random.pick([
            "",
            "{}",
            '{"flags":{}}',
            '{"flags":{"cartFailure":{"state":"ENABLED","variants":{"on":{}},"defaultVariant":"on"}}}',
            '{"flags":{"cartFailure":null}}',
          ]),
        };
      },
    ],
    [
      "configmaps",
      "postgresql-init",
      (draft) => {
        draft.data = random.pick<any>([{}, { "init.sql": "CREATE USER x WITH PASSWORD" }]);
      },
    ],
  ];
  const [resource, name, change] = random.pick(kinds);
  try {
    if (random.next() < 0.05) kube.delete("services", NAMESPACE, service);
    else kube.modify(resource, NAMESPACE, name, change);
  } catch (error) {
    // The API may say no; nothing else may be thrown.
    if (!(error instanceof StatusError)) throw error;
  }
  return `${resource} ${name}`;
}

it.each(["one", "two"])("seed %s", (seed) => {
  const world = demoWorld(seed, 1);
  const random = new Random(`fuzz-${seed}`);
  const done: string[] = [];
  for (let step = 0; step < 40; step++) {
    done.push(mutate(world, random));
    expect(() => world.minutes(0.5), done.join("\n")).not.toThrow();
  }
  world.minutes(5);
  for (const series of world.cluster.metrics.select([
    { name: "service_namespace", op: "=", value: "opentelemetry-demo" },
  ])) {
    const last = series.values[series.length - 1]!;
    expect(last, JSON.stringify(series.labels)).toBeGreaterThanOrEqual(0);
    expect(last).toBeLessThan(1e9);
  }
  world.cluster.stop();
});
