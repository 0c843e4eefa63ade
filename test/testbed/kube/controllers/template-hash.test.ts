import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../../../paths.js";
import { dumpTemplate } from "../../../../testbed/kube/controllers/template-dump.js";
import { templateHash } from "../../../../testbed/kube/controllers/template-hash.js";

const OBJECTS = packageFile("../shared/data/controlplane/otel-demo-objects.json");

describe("the hash of a pod template", () => {
  it("is a real server's", () => {
    const template = {
      metadata: { labels: { app: "r" } },
      spec: {
        containers: [
          {
            name: "c",
            image: "i",
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
            imagePullPolicy: "Always",
          },
        ],
        restartPolicy: "Always",
        terminationGracePeriodSeconds: 30,
        dnsPolicy: "ClusterFirst",
        securityContext: {},
        schedulerName: "default-scheduler",
      },
    };
    expect(templateHash(template)).toBe("846b7fdd94");
    expect(templateHash(template, 1)).not.toBe("846b7fdd94");
  });

  it.skipIf(!existsSync(OBJECTS))(
    "is a real server's for every recorded replica set (skipped without ../shared)",
    () => {
      const sets = JSON.parse(readFileSync(OBJECTS, "utf8")).items.filter((o: any) => o.kind === "ReplicaSet");
      expect(sets.length).toBeGreaterThan(20);
      for (const { metadata, spec } of sets) {
        const { "pod-template-hash": hash, ...labels } = spec.template.metadata.labels;
        const template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
        expect(templateHash(template), metadata.name).toBe(hash);
      }
    },
  );

  // As k8s.io/apimachinery v0.34.2 dumps them.
  it.each([
    ["1", "1 scale:(resource.Scale)0", "s:(string)1 Format:(resource.Format)DecimalSI"],
    ["100m", "100 scale:(resource.Scale)-3", "s:(string)100m Format:(resource.Format)DecimalSI"],
    ["64Mi", "67108864 scale:(resource.Scale)0", "s:(string) Format:(resource.Format)BinarySI"],
    ["1Gi", "1073741824 scale:(resource.Scale)0", "s:(string)1Gi Format:(resource.Format)BinarySI"],
    ["1G", "1 scale:(resource.Scale)9", "s:(string)1G Format:(resource.Format)DecimalSI"],
    ["1e3", "1 scale:(resource.Scale)3", "s:(string)1e3 Format:(resource.Format)DecimalExponent"],
    ["0.5", "5 scale:(resource.Scale)-1", "s:(string) Format:(resource.Format)DecimalSI"],
    ["0", "0 scale:(resource.Scale)0", "s:(string)0 Format:(resource.Format)DecimalSI"],
  ])("dumps the quantity %s", (text, amount, rest) => {
    const spec = { containers: [{ name: "c", resources: { limits: { cpu: text } } }] };
    expect(dumpTemplate({ spec })).toContain(
      `map[cpu:{i:(resource.int64Amount){value:(int64)${amount}} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} ${rest}}]`,
    );
  });
});
