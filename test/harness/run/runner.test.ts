import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { executeRun, type RunOptions, RunStore, type TrialRecord } from "../../../harness/run/index.js";
import { FakeEnvironment, type FakeOptions } from "../support/fake-environment.js";
import {
  configuration,
  model,
  type ScriptedAgent,
  scenario,
  scriptedAgent,
  temporaryFolder,
} from "../support/fixtures.js";

function setup(
  changes: Partial<RunOptions> & { trials?: number; environment?: FakeOptions; script?: ScriptedAgent } = {},
) {
  const scenarios = changes.scenarios ?? [scenario("sre-1"), scenario("sre-2")];
  const environments: FakeEnvironment[] = [];
  const finished: TrialRecord[] = [];
  const options: RunOptions = {
    configuration: configuration([...scenarios], { trials: changes.trials ?? 2 }),
    store: new RunStore(temporaryFolder()),
    createEnvironment: async () => {
      const environment = new FakeEnvironment(changes.environment);
      environments.push(environment);
      return { environment, namespaces: ["shop"] };
    },
    agentFor: async () => scriptedAgent(changes.script ?? { diagnosis: ["shop/Deployment/cart"] }),
    createModel: async () => model,
    observer: { trialFinished: (record) => finished.push(record) },
    ...changes,
    scenarios,
  };
  return { options, environments, finished };
}

const names = (records: TrialRecord[]) => records.map((record) => `${record.scenario}/${record.trial}`);
const ALL = ["sre-1/1", "sre-1/2", "sre-2/1", "sre-2/2"];

describe("a run", () => {
  it("writes a folder a trial, whole", async () => {
    const { options } = setup();
    expect(names(await executeRun(options))).toEqual(ALL);
    const folder = join(options.store.path, "trials", "sre-1");
    expect(readdirSync(folder).sort()).toEqual(["1", "2"]);
    expect(readdirSync(join(folder, "1")).sort()).toEqual(["agent_output.json", "scores.json", "transcript.jsonl"]);
    const lines = readFileSync(join(folder, "1", "transcript.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line).content)).toEqual(["diagnosis", "mitigation"]);
    expect(JSON.parse(readFileSync(join(folder, "1", "agent_output.json"), "utf8")).entities[0].name).toBe(
      "shop/Deployment/cart",
    );
  });

  it("runs only what is missing, and sweeps away what a killed process left", async () => {
    const { options } = setup();
    const left = join(options.store.path, "trials", "sre-1", ".1.4711");
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, "scores.json"), "{}");
    await executeRun({ ...options, configuration: { ...options.configuration, trials: 1 } });
    expect(existsSync(left)).toBe(false);
    const second = setup({ store: options.store });
    expect(names(await executeRun(second.options))).toEqual(ALL);
    expect(names(second.finished)).toEqual(["sre-1/2", "sre-2/2"]);
    expect(second.environments).toHaveLength(2);
  });

  it.each([1, 2, 4, 9])("keeps to a concurrency of %i, and to the order of results", async (concurrency) => {
    let running = 0;
    let most = 0;
    const { options } = setup({
      concurrency,
      trials: 3,
      script: {
        diagnosis: [],
        onTask: async (_context, task) => {
          if (task === "diagnosis") most = Math.max(most, ++running);
          await new Promise(setImmediate);
          if (task === "mitigation") running--;
        },
      },
    });
    const records = await executeRun(options);
    expect(most).toBe(Math.min(concurrency, 6));
    expect(names(records)).toEqual(["sre-1/1", "sre-1/2", "sre-1/3", "sre-2/1", "sre-2/2", "sre-2/3"]);
  });

  it("keeps what is finished when interrupted, and nothing of the rest", async () => {
    const abort = new AbortController();
    let trials = 0;
    const { options, environments } = setup({
      signal: abort.signal,
      script: {
        diagnosis: [],
        onTask: (_context, task) => {
          if (task === "diagnosis" && ++trials === 3) abort.abort(new Error("interrupted"));
        },
      },
    });
    expect(names(await executeRun(options))).toEqual(ALL.slice(0, 2));
    expect(environments).toHaveLength(3);
    expect(environments.map((environment) => environment.stopped)).toEqual([1, 1, 1]);
    expect(readdirSync(join(options.store.path, "trials", "sre-2"))).toEqual([]);
    const again = setup({ store: options.store });
    expect(names(await executeRun(again.options))).toEqual(ALL);
    expect(names(again.finished)).toEqual(ALL.slice(2));
  });

  it("tries again when infrastructure fails, not when the environment itself is wrong", async () => {
    const errors: Error[] = [];
    const fails = (error: Error, times: number) => ({
      failStart: () => {
        if (errors.length >= times) return undefined;
        errors.push(error);
        return error;
      },
    });
    const taken = Object.assign(new Error("listen EADDRINUSE"), { code: "EADDRINUSE" });
    const one = setup({ trials: 1, scenarios: [scenario()], environment: fails(taken, 2) });
    expect((await executeRun(one.options))[0]?.reason).toBeNull();
    expect(one.environments).toHaveLength(3);

    errors.length = 0;
    const always = setup({ trials: 1, scenarios: [scenario()], environment: fails(taken, 99) });
    expect((await executeRun(always.options))[0]).toMatchObject({
      reason: "environment-error",
      reason_detail: "listen EADDRINUSE",
      diagnosis: 0,
      mitigation: 0,
      resolved: 0,
    });

    errors.length = 0;
    for (const error of [new Error("no such fault"), Object.assign(new Error("no such file"), { code: "ENOENT" })]) {
      errors.length = 0;
      const wrong = setup({ trials: 1, scenarios: [scenario()], environment: fails(error, 99) });
      expect((await executeRun(wrong.options))[0]?.reason_detail).toBe(error.message);
      expect(wrong.environments).toHaveLength(1);
    }
  });
});
