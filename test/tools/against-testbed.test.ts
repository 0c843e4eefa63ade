import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSimulatedEnvironment, type Environment } from "../../testbed/index.js";
import {
  createNl2Alerts,
  createNl2Kubectl,
  createNl2Logs,
  createNl2Metrics,
  createNl2Traces,
} from "../../tools/index.js";
import { type TestToolContext, toolContext } from "../support/tool-context.js";

let environment: Environment;
let context: TestToolContext;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  environment = createSimulatedEnvironment({ applications: [{ id: "opentelemetry-demo" }], seed: 7 });
  await environment.start();
  const kubernetesObject = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "product-catalog", namespace: "otel-demo" },
  };
  await environment.inject([{ injections: [{ id: "deleted-kubernetes-service", args: { kubernetesObject } }] }]);
  await environment.waitForAlerts([], 900);
  context = toolContext("", [], {
    endpoints: environment.endpoints("read-only"),
    clock: environment.clock,
    namespaces: ["otel-demo"],
    onEnd: (end) => void ends.push(end),
  });
});

afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
  await environment.stop();
});

describe("the tools on the simulated environment's own faces, with product-catalog's Service deleted", () => {
  it.each<[string, (c: TestToolContext) => any, object, RegExp]>([
    ["the alert", createNl2Alerts, {}, /^HighRequestErrorRate\{.*service_name="frontend".* firing since/m],
    ["its rule", createNl2Alerts, { rule: "HighRequestErrorRate" }, /^expr: .+/m],
    [
      "the missing Service",
      createNl2Kubectl,
      { command: "kubectl get svc -n otel-demo -o name | grep -c product-catalog" },
      /^0$/,
    ],
    [
      "errors by service",
      createNl2Metrics,
      {
        query: 'sum by (service_name) (rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[5m])) > 0',
      },
      /^frontend +[\d.]+$/m,
    ],
    [
      "their course",
      createNl2Metrics,
      { query: "sum(rate(traces_span_metrics_calls_total[2m]))", minutes: 15 },
      /min +max +\d\d:\d\d:\d\d/,
    ],
    [
      "log lines",
      createNl2Logs,
      { query: '{service_name="frontend"} |~ "(?i)error|unavailable|enotfound"' },
      /\[frontend\] .*product-catalog/,
    ],
    [
      "log rates",
      createNl2Logs,
      { query: 'sum by (service_name) (count_over_time({service_name=~".+"}[5m]))' },
      /^frontend /m,
    ],
    ["failed traces", createNl2Traces, { service: "frontend", errors_only: true }, /ProductCatalogService.*ERROR/],
    ["who calls whom", createNl2Traces, { dependencies: true, service: "frontend" }, /^frontend -> .*cart/m],
  ])("%s", async (_name, create, input, expected) => {
    expect(await create(context).invoke(input)).toMatch(expected);
  });

  it.each<[string, (c: TestToolContext) => any, object, RegExp]>([
    [
      "a metric",
      createNl2Metrics,
      { query: "traces_span_metrics_call_total" },
      /did you mean traces_span_metrics_calls_total/,
    ],
    ["a log label", createNl2Logs, { query: '{svc="cart"}' }, /their labels: .*service_name/],
    ["a service", createNl2Traces, { service: "catalog" }, /there are: .*product-catalog/],
    ["an object", createNl2Kubectl, { command: "kubectl get svc product-catalog -n otel-demo" }, /\(NotFound\)/],
    ["a right", createNl2Kubectl, { command: "kubectl delete pod -l a=b -n otel-demo" }, /read/],
  ])("says so where %s does not exist", async (_name, create, input, expected) => {
    await expect(create(context).invoke(input)).rejects.toThrow(expected);
  });
});
