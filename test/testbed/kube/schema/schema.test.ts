import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../../../paths.js";
import { DecodeError, decodeObject, duplicateFields, zeroStruct } from "../../../../testbed/kube/schema/decode.js";
import { schemaTable } from "../../../../testbed/kube/schema/table.js";

const table = schemaTable();
const pod = table.kind("", "v1", "Pod")!;
const decode = (kind: string, value: object, group = "", version = "v1") => {
  const findings = { strict: [] as string[] };
  return { object: decodeObject(value, table.kind(group, version, kind)!, findings), strict: findings.strict };
};

describe("the schema table", () => {
  const source = packageFile("../shared/data/controlplane/openapi");
  it.skipIf(!existsSync(source))("is what its script derives (skipped where ../shared is absent)", () => {
    const folder = mkdtempSync(join(tmpdir(), "itbench-table-"));
    const target = join(folder, "table.json");
    execFileSync(process.execPath, [packageFile("scripts/build-schema-table.mjs"), source, target]);
    expect(readFileSync(target, "utf8") === readFileSync(packageFile("testbed/kube/schema/table.json"), "utf8")).toBe(
      true,
    );
    rmSync(folder, { recursive: true });
  });

  it("knows a type for every resource and every reference", () => {
    for (const r of table.resources) expect(table.kind(r.group, r.version, r.kind), r.resource).toBeDefined();
    const refs = [...JSON.stringify(table.types).matchAll(/"r":"([^"]+)"/g)].map((m) => m[1]!);
    expect(refs.filter((name) => table.types[name] === undefined)).toEqual([]);
  });

  it("numbers the fields that clients send as protobuf as the schema names them", () => {
    const numbers = JSON.parse(readFileSync(packageFile("testbed/kube/schema/protobuf.json"), "utf8"));
    for (const kind of ["apps.v1.Deployment", "core.v1.ConfigMap", "batch.v1.Job", "core.v1.Service"]) {
      const fields = Object.values(numbers[`api.${kind}`] as Record<string, string>).map((f) => f.split(" ")[0]);
      for (const field of fields) expect(Object.keys(table.types[`api.${kind}`]!.p!)).toContain(field);
    }
  });
});

describe("decoding", () => {
  it("writes what Go always writes, and nothing that is empty", () => {
    expect(zeroStruct(table.kind("apps", "v1", "Deployment")!)).toEqual({
      metadata: {},
      spec: { selector: undefined, strategy: {}, template: { metadata: {}, spec: { containers: null } } },
      status: {},
    });
    const { object } = decode("Pod", {
      metadata: { name: "p", labels: {}, annotations: null, creationTimestamp: null, finalizers: [] },
      spec: {
        containers: [{ name: "c", resources: {}, command: [], tty: false }],
        hostNetwork: false,
        terminationGracePeriodSeconds: 0,
      },
      status: { conditions: [{ type: "Ready", status: "True" }], containerStatuses: [{ name: "c" }] },
    });
    expect(object).toEqual({
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", resources: {} }], terminationGracePeriodSeconds: 0 },
      status: {
        conditions: [{ type: "Ready", status: "True", lastProbeTime: null, lastTransitionTime: null }],
        containerStatuses: [
          { name: "c", image: "", imageID: "", ready: false, restartCount: 0, lastState: {}, state: {} },
        ],
      },
    });
  });

  it("spells quantities and times in one way", () => {
    const { object } = decode("Pod", {
      metadata: { creationTimestamp: "2026-12-01T13:00:00+01:00" },
      spec: { containers: [{ name: "c", resources: { limits: { cpu: 0.5, memory: "0.125Gi" } } }] },
    });
    expect(object.metadata.creationTimestamp).toBe("2026-12-01T12:00:00Z");
    expect(object.spec.containers[0].resources.limits).toEqual({ cpu: "500m", memory: "128Mi" });
    const lease = decode("Lease", { spec: { renewTime: "2026-12-01T12:00:00.5Z" } }, "coordination.k8s.io");
    expect(lease.object.spec.renewTime).toBe("2026-12-01T12:00:00.500000Z");
  });

  it("names unknown fields by their place", () => {
    const { object, strict } = decode("Pod", {
      spec: { containers: [{ name: "a" }, { name: "b", imagePulPolicy: "x" }], nope: 1 },
    });
    expect(strict).toEqual(['unknown field "spec.containers[1].imagePulPolicy"', 'unknown field "spec.nope"']);
    expect(object.spec).not.toHaveProperty("nope");
  });

  it.each<[string, object, string]>([
    [
      "text for a number",
      { spec: { terminationGracePeriodSeconds: "x" } },
      "json: cannot unmarshal string into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
    ],
    [
      "a number for text",
      { metadata: { name: 1 } },
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
    ],
    [
      "a map for a list",
      { spec: { containers: {} } },
      "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
    ],
    [
      "a list for a map",
      { metadata: { labels: [] } },
      "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
    ],
    [
      "text for a boolean",
      { spec: { hostNetwork: "yes" } },
      "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool",
    ],
    [
      "no quantity",
      { spec: { containers: [{ resources: { limits: { cpu: "1 core" } } }] } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      "no time",
      { metadata: { creationTimestamp: "today" } },
      'parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"',
    ],
  ])("refuses %s", (_, value, message) => {
    expect(() => decodeObject(value, pod, { strict: [] })).toThrow(DecodeError);
    expect(() => decodeObject(value, pod, { strict: [] })).toThrow(message);
  });

  it("refuses what is no base64", () => {
    expect(() => decode("Secret", { data: { a: "b!" } })).toThrow("illegal base64 data at input byte 1");
  });
});

describe("repeated fields", () => {
  it.each<[string, string[]]>([
    ['{"a":1,"b":{"c":1,"c":2},"a":2}', ['duplicate field "b.c"', 'duplicate field "a"']],
    ['{"a":[{"x":1},{"x":1,"x":2}]}', ['duplicate field "a[1].x"']],
    ['{"a":"{\\"a\\":1,\\"a\\":2}","b":" \\\\","c":1}', []],
    ['[ { "a" : [ ] , "b" : { } , "a" : null } ]', ['duplicate field "[0].a"']],
    ["{}", []],
  ])("%s", (text, expected) => {
    expect(duplicateFields(text)).toEqual(expected);
  });
});
