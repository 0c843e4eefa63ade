import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { packageFile } from "../../../paths.js";
import { applications, findApplication } from "../../../testbed/apps/index.js";
import { loadRules } from "../../../testbed/telemetry/rules/index.js";

const SHARED = packageFile("..", "shared", "data");
const demo = findApplication("opentelemetry-demo");

function objects(args?: Record<string, unknown>): any[] {
  return demo.manifests(args);
}

/** Documents of a file beside the package; their kinds and names, keyed. */
function documents(...path: string[]): Map<string, any> {
  const text = readFileSync(`${SHARED}/${path.join("/")}`, "utf8");
  const found = parseAllDocuments(text).map((document) => document.toJS() as any);
  return new Map(found.filter(Boolean).map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}

const byName = (list: any[] = []) => Object.fromEntries(list.map((entry) => [entry.name, entry]));

/** What differs from the chart on purpose. Anything else that differs is a mistake. */
const DEVIATIONS: Record<string, string | undefined> = {
  "ad AD_PORT": "9555",
  "agent MCP_ENABLED": "True",
  "load-generator LOAD_GENERATOR_VUS": "50",
  "load-generator LOAD_GENERATOR_SPAWN_RATE": "5",
  "load-generator K6_BROWSER_ENABLED": "false",
};

describe("the demo's objects", () => {
  it("stand in their namespace, each once", () => {
    const all = objects();
    expect(all[0]).toMatchObject({ kind: "Namespace", metadata: { name: "otel-demo" } });
    expect(all.slice(1).every((object) => object.metadata.namespace === "otel-demo")).toBe(true);
    const ids = all.map((object) => `${object.kind}/${object.metadata.name}`);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("are new with every call: nobody's change reaches the next cluster", () => {
    const first = objects();
    for (const object of first) object.metadata.name = "changed";
    expect(objects().some((object) => object.metadata.name === "changed")).toBe(false);
  });

  it("resolve every address: each Service that a variable names is there, with that port", () => {
    const all = objects();
    const services = new Map(
      all.filter(({ kind }) => kind === "Service").map((object) => [object.metadata.name, object]),
    );
    const addresses = all
      .filter(({ kind }) => kind === "Deployment")
      .flatMap(({ spec }) => spec.template.spec.containers.flatMap((container: any) => container.env ?? []))
      .map(({ value }) => /^(?:https?:\/\/)?([a-z-]+):(\d+)$/.exec(value ?? ""))
      .filter((match) => match !== null && match[1] !== "localhost");
    expect(addresses.length).toBeGreaterThan(20);
    for (const [, host, port] of addresses as RegExpExecArray[]) {
      const ports = services.get(host!)?.spec.ports.map((entry: any) => String(entry.port));
      expect(ports, `Service ${host}`).toContain(port);
    }
  });

  it("let every Service's target port be a port of a container that it selects", () => {
    const all = objects();
    const templates = all.filter(({ spec }) => spec?.template !== undefined).map(({ spec }) => spec.template);
    for (const service of all.filter(({ kind }) => kind === "Service")) {
      const chosen = templates.filter(({ metadata }) =>
        Object.entries(service.spec.selector).every(([key, value]) => metadata.labels[key] === value),
      );
      expect(chosen, service.metadata.name).toHaveLength(1);
      const open = chosen[0].spec.containers.flatMap((container: any) => container.ports ?? []);
      for (const { targetPort } of service.spec.ports) {
        expect(
          open.map((port: any) => port.containerPort),
          service.metadata.name,
        ).toContain(targetPort);
      }
    }
  });

  it("take the load from the scenario's arguments, in the variable and in the flag", () => {
    const all = objects({ loadGeneration: { users: 120, userSpawnRate: 7, browserTraffic: true } });
    const generator = all.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === "load-generator");
    const env = byName(generator.spec.template.spec.containers[0].env);
    expect(env.LOAD_GENERATOR_VUS.value).toBe("120");
    expect(env.LOAD_GENERATOR_SPAWN_RATE.value).toBe("7");
    expect(env.K6_BROWSER_ENABLED.value).toBe("true");
    const flags = JSON.parse(
      all.find(({ metadata }) => metadata.name === "flagd-config").data["demo.flagd.json"],
    ).flags;
    expect(flags.loadGeneratorVUs.variants[flags.loadGeneratorVUs.defaultVariant]).toBe(120);
  });

  it.each([
    [{ loadGeneration: { users: "many" } }, "users"],
    [{ loadGeneration: { users: 0 } }, "users"],
    [{ autoscaling: { kubernetes: { hpa: "yes" } } }, "hpa"],
  ])("refuse arguments of another shape: %j", (args, field) => {
    expect(() => objects(args)).toThrow(new RegExp(field));
  });

  it("make autoscalers when asked for, and only then", () => {
    const autoscalers = (args?: Record<string, unknown>) =>
      objects(args).filter(({ kind }) => kind === "HorizontalPodAutoscaler");
    expect(autoscalers()).toEqual([]);
    const made = autoscalers({ autoscaling: { kubernetes: { hpa: true } } });
    expect(made.length).toBeGreaterThan(3);
    const deployments = new Set(
      objects()
        .filter(({ kind }) => kind === "Deployment")
        .map(({ metadata }) => metadata.name),
    );
    for (const { spec } of made) expect(deployments).toContain(spec.scaleTargetRef.name);
  });
});

describe("the applications", () => {
  it("are found by id, and an unknown id is answered with those that there are", () => {
    for (const { id } of applications) expect(findApplication(id).id).toBe(id);
    expect(() => findApplication("nope")).toThrow(/no application "nope".*opentelemetry-demo/);
  });
});

describe.skipIf(!existsSync(`${SHARED}/manifests`))("the chart's own manifests (skipped without ../shared)", () => {
  const chart = existsSync(`${SHARED}/manifests`) ? documents("manifests", "opentelemetry-demo.yaml") : new Map();
  const ours = new Map(objects().map((object) => [`${object.kind}/${object.metadata.name}`, object]));
  const names = (kind: string) => [...chart.keys()].filter((key) => key.startsWith(`${kind}/`));

  it("name the same Deployments, Services and ConfigMaps", () => {
    expect(names("Deployment")).toHaveLength(25);
    for (const key of [...names("Deployment"), ...names("Service"), ...names("ConfigMap")]) {
      expect([...ours.keys()]).toContain(key);
    }
  });

  it.each(names("Deployment"))("%s agrees", (key) => {
    const theirs = chart.get(key);
    const mine = ours.get(key);
    const workload = theirs.metadata.name;
    expect(mine.metadata.labels).toEqual(theirs.metadata.labels);
    expect(mine.spec.selector).toEqual(theirs.spec.selector);
    expect(mine.spec.replicas).toBe(theirs.spec.replicas);
    expect(mine.spec.template.metadata.labels).toMatchObject(theirs.spec.template.metadata.labels);
    const [their, my] = [theirs.spec.template.spec, mine.spec.template.spec];
    expect(my.serviceAccountName).toBe(their.serviceAccountName);
    expect((my.initContainers ?? []).map(({ name, image, command }: any) => ({ name, image, command }))).toEqual(
      (their.initContainers ?? []).map(({ name, image, command }: any) => ({ name, image, command })),
    );
    expect(my.containers.map(({ name }: any) => name)).toEqual(their.containers.map(({ name }: any) => name));
    for (const [index, container] of their.containers.entries()) {
      const own = my.containers[index];
      expect(own.image).toBe(container.image);
      expect(own.command).toEqual(container.command);
      expect(own.resources).toEqual(container.resources);
      expect(own.securityContext).toEqual(container.securityContext);
      const shift = (port: number) => (workload === "ad" && port === 8080 ? 9555 : port);
      expect((own.ports ?? []).map(({ name, containerPort }: any) => [name, containerPort])).toEqual(
        (container.ports ?? []).map(({ name, containerPort }: any) => [name, shift(containerPort)]),
      );
      const env = byName(own.env);
      const theirEnv = byName(container.env);
      const extra = Object.keys(env).filter((name) => !(name in theirEnv) && !(`${workload} ${name}` in DEVIATIONS));
      expect(extra).toEqual([]);
      for (const [name, entry] of Object.entries(theirEnv)) {
        if (name === "SECRET_KEY_BASE") continue;
        const deviation = DEVIATIONS[`${workload} ${name}`];
        if (deviation !== undefined) expect(env[name]?.value, name).toBe(deviation);
        else expect(env[name], name).toEqual(entry);
      }
    }
  });

  it.each(names("Service"))("%s agrees", (key) => {
    const theirs = chart.get(key);
    const mine = ours.get(key);
    expect(mine.metadata.labels).toEqual(theirs.metadata.labels);
    expect(mine.spec.selector).toEqual(theirs.spec.selector);
    const ad = key === "Service/ad";
    expect(mine.spec.ports).toEqual(
      theirs.spec.ports.map((port: any) => (ad && port.port === 8080 ? { ...port, targetPort: 9555 } : port)),
    );
  });

  it("have no flag and no variant that ours lack", () => {
    const read = (map: Map<string, any>) => JSON.parse(map.get("ConfigMap/flagd-config").data["demo.flagd.json"]).flags;
    const mine = read(ours);
    for (const [name, flag] of Object.entries<any>(read(chart))) {
      expect(Object.keys(mine), name).toContain(name);
      expect(mine[name].variants, name).toMatchObject(flag.variants);
      if (name !== "loadGeneratorVUs") expect(mine[name].defaultVariant, name).toBe(flag.defaultVariant);
    }
  });
});

describe.skipIf(!existsSync(`${SHARED}/itbench`))("ITBench's files (skipped without ../shared)", () => {
  it("set only flags and variants that there are", () => {
    const map = objects().find(({ metadata }) => metadata.name === "flagd-config");
    const { flags } = JSON.parse(map.data["demo.flagd.json"]);
    let seen = 0;
    for (const name of readdirSync(`${SHARED}/itbench/scenarios`)) {
      const scenario = JSON.parse(readFileSync(`${SHARED}/itbench/scenarios/${name}`, "utf8"));
      for (const { id, args } of scenario.disruptions.flatMap((disruption: any) => disruption.injections)) {
        if (id !== "opentelemetry-demo-feature-flag") continue;
        seen++;
        expect(Object.keys(flags[args.flag.name]?.variants ?? {}), `${name}: ${args.flag.name}`).toContain(
          args.flag.state,
        );
      }
    }
    expect(seen).toBeGreaterThan(10);
  });

  it("have the same alerts as ours: names, thresholds, waiting times, severities", () => {
    const theirs = parse(readFileSync(`${SHARED}/itbench/rules/otel-demo.yaml`, "utf8")).spec.groups;
    const [{ groups }] = demo.rules() as [{ groups: any[] }];
    const facts = (list: any[]) =>
      list.flatMap((group) =>
        group.rules.map((rule: any) => ({
          group: group.name,
          alert: rule.alert,
          threshold: /(>|==)\s*([\d.]+)\s*$/.exec(rule.expr.trim())?.slice(1, 3),
          window: /\[(\w+)\]/.exec(rule.expr)?.[1],
          for: rule.for,
          severity: rule.labels.severity,
        })),
      );
    expect(facts(groups)).toEqual(facts(theirs));
  });

  it("load with the rule engine, as ours do", () => {
    expect(loadRules(demo.rules(), { source: "opentelemetry-demo" }).length).toBe(6);
  });
});
