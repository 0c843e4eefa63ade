/** A small cluster with a runtime whose containers do as the test says. */
import { VirtualClock } from "../../../../testbed/clock.js";
import { nodeSpecs, startControllers } from "../../../../testbed/kube/controllers/index.js";
import type { KubeObject } from "../../../../testbed/kube/objects.js";
import { type ContainerRuntime, idleRuntime } from "../../../../testbed/kube/runtime.js";
import { ApiServer } from "../../../../testbed/kube/server.js";
import { Random } from "../../../../testbed/random.js";
import { createClusterExporters } from "../../../../testbed/telemetry/exporters/index.js";
import { createMetricStore } from "../../../../testbed/telemetry/metric-store.js";
import { isStale, type Matcher } from "../../../../testbed/telemetry/metrics.js";
import { startScraper } from "../../../../testbed/telemetry/scraper.js";

export const START = Date.UTC(2026, 0, 15, 9, 0, 0);

export interface TestClusterOptions {
  runtime?: Partial<ContainerRuntime>;
  nodes?: number;
}

export function testCluster({ runtime = {}, nodes = 2 }: TestClusterOptions = {}) {
  const clock = new VirtualClock(START);
  const kube = new ApiServer({ clock, random: new Random("exporters") });
  const used: ContainerRuntime = {
    ...idleRuntime,
    usage: () => ({ cpuCores: 0.1, memoryBytes: 50 * 2 ** 20 }),
    ...runtime,
  };
  const { kubelet } = startControllers(kube, { runtime: used, nodes: nodeSpecs(nodes, "containerd") });
  const store = createMetricStore();
  const exporters = createClusterExporters({ kube, store, usage: used.usage });
  const scraper = startScraper(clock, store, exporters);

  /** Series that the last scrape showed, by label text without the target's own. */
  function shown(name: string, labels: Record<string, string> = {}): Record<string, number> {
    const matchers: Matcher[] = [{ name: "__name__", op: "=", value: name }];
    for (const [label, value] of Object.entries(labels)) matchers.push({ name: label, op: "=", value });
    const found: Record<string, number> = {};
    for (const series of store.select(matchers)) {
      const value = series.values[series.length - 1];
      if (value === undefined || isStale(value)) continue;
      const own = Object.entries(series.labels).filter(
        ([label]) =>
          !["__name__", "job", "instance", "metrics_path", "uid", "id", "name"].includes(label) &&
          labels[label] === undefined,
      );
      found[own.map(([label, text]) => `${label}=${text}`).join(" ")] = value;
    }
    return found;
  }

  /** The one value; undefined when there is none or are several. */
  function value(name: string, labels: Record<string, string> = {}): number | undefined {
    const values = Object.values(shown(name, labels));
    return values.length === 1 ? values[0] : undefined;
  }

  return { clock, kube, kubelet, store, exporters, scraper, shown, value, runtime: used };
}

export function deployment(
  name: string,
  over: { replicas?: number; container?: Record<string, unknown>; spec?: Record<string, unknown> } = {},
): KubeObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: over.replicas ?? 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            {
              name: "main",
              image: `example.org/${name}:1`,
              resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "200m", memory: "128Mi" } },
              ...over.container,
            },
          ],
          ...over.spec,
        },
      },
    },
  };
}
