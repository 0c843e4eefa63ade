import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findScenarios } from "../../harness/scenario/index.js";
import { createSimulatedEnvironment, type Environment } from "../../testbed/index.js";
import {
  createChanges,
  createCompareTraces,
  createLogPatterns,
  createMetricAnomalies,
  createNl2Script,
  createTopology,
  type ToolContext,
} from "../../tools/index.js";
import { toolContext } from "../support/tool-context.js";

type Call = [name: string, create: (context: ToolContext) => any, input: object, expected: RegExp];

const topology = (context: ToolContext) => createTopology(context, { traces: true });
const changes = (context: ToolContext) => createChanges(context, { metrics: true });

/** A started environment with a fault in it (none when `disruptions` is empty), some minutes later. */
async function open(applications: { id: string }[], disruptions: any[]) {
  const environment: Environment = createSimulatedEnvironment({ applications, seed: 11 });
  const ends: (() => Promise<void>)[] = [];
  await environment.start();
  if (disruptions.length > 0) {
    await environment.inject(disruptions);
    await environment.waitForAlerts([], 900);
  }
  await environment.clock.sleep(300);
  const context = toolContext("", [], {
    endpoints: environment.endpoints("read-only"),
    clock: environment.clock,
    namespaces: ["otel-demo"],
    onEnd: (end) => void ends.push(end),
  });
  return {
    context,
    close: async () => {
      await Promise.all(ends.map((end) => end()));
      await environment.stop();
    },
  };
}

function against(title: string, applications: { id: string }[], disruptions: any[], calls: Call[]): void {
  describe(title, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      opened = await open(applications, disruptions);
    });
    afterAll(() => opened?.close());

    it.each(calls)("%s", async (_name, create, input, expected) => {
      const text: string = await create(opened.context).invoke(input);
      expect(text).toMatch(expected);
      expect(Buffer.byteLength(text)).toBeLessThan(12_000);
    });
  });
}

const [sre24] = findScenarios(["sre-24"]);

against(
  "sre-24: checkout is told the wrong port of Kafka",
  sre24!.scenario.environment.applications,
  sre24!.scenario.disruptions,
  [
    [
      "what does not fit",
      topology,
      { entity: "checkout" },
      /! KAFKA_ADDR=kafka:9999: Service kafka has no port 9999; its ports: .*9092/,
    ],
    [
      "who suffers",
      topology,
      { entity: "kafka", direction: "callers" },
      /Deployment\/checkout \[configured: KAFKA_ADDR=kafka:9999\]/,
    ],
    [
      "the way of the failure",
      topology,
      { entity: "frontend", to: "kafka" },
      /Service\/checkout --selects--> Deployment\/checkout --configured/,
    ],
    [
      "what was changed",
      changes,
      {},
      /otel-demo\/Deployment\/checkout new pod template, revision 1 -> 2:\n +~ spec\.containers\[checkout\]\.env\[KAFKA_ADDR\]\.value: "kafka:9092" -> "kafka:9999"/,
    ],
    [
      "before the alert",
      changes,
      { match: "checkout" },
      /\(.* before the alert\) otel-demo\/Deployment\/checkout edited by/,
    ],
    ["new lines", createLogPatterns, { service: "checkout" }, /^NEW 0 -> \d+ .*failed to create Kafka producer/m],
    ["lines that stopped", createLogPatterns, { service: "accounting" }, /^STOPPED \d+ -> \d+ .*Order details/m],
    [
      "metrics that shifted",
      createMetricAnomalies,
      { name: "checkout" },
      /^-\d+\.\d +1 +0 +kube_deployment_status_replicas_available$/m,
    ],
    ["metrics that began", createMetricAnomalies, { name: "checkout" }, /^began .*reason="CrashLoopBackOff"/m],
    [
      "traces that changed",
      createCompareTraces,
      { service: "frontend" },
      /^POST \/api\/checkout +\d+ -> \d+ +0% -> \d\d/m,
    ],
    [
      "a script",
      createNl2Script,
      {
        script:
          "for p in $(kubectl get pods -n otel-demo -l app.kubernetes.io/name=checkout -o name); do kubectl logs -n otel-demo $p --previous | grep -c Kafka; done",
      },
      /^\$ kubectl logs -n otel-demo pod\/checkout-.* --previous \| grep -c Kafka\n\d/,
    ],
  ],
);

against(
  "a Service that was deleted",
  [{ id: "opentelemetry-demo" }],
  [
    {
      injections: [
        {
          id: "deleted-kubernetes-service",
          args: {
            kubernetesObject: {
              apiVersion: "v1",
              kind: "Service",
              metadata: { name: "product-catalog", namespace: "otel-demo" },
            },
          },
        },
      ],
    },
  ],
  [
    ["is gone", changes, {}, /otel-demo\/Service\/product-catalog is gone/],
    [
      "is missed",
      topology,
      { entity: "frontend" },
      /! PRODUCT_CATALOG_ADDR=product-catalog:8080: there is no Service otel-demo\/product-catalog/,
    ],
    [
      "calls end there",
      createCompareTraces,
      { service: "recommendation" },
      /product-catalog: .*: 1 -> 0(\.\d+)? a request/,
    ],
  ],
);

against(
  "a healthy environment",
  [{ id: "opentelemetry-demo" }],
  [],
  [
    ["nothing was edited", changes, { minutes: 8 }, /^0 changes .*no alert fires\nnothing was edited/],
    ["no metric shifted", createMetricAnomalies, { name: "checkout" }, /nothing shifted by more than it varied before/],
    [
      "the same calls",
      createCompareTraces,
      { service: "checkout", since: "5m", minutes: 5 },
      /the calls that it makes are the same/,
    ],
    ["no new lines", createLogPatterns, { service: "checkout", since: "5m", minutes: 12 }, /^(?![\s\S]*\bNEW\b)/],
  ],
);
