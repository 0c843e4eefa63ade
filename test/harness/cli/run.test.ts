/** The commands that run something, on the real testbed with the rule-based playbook. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { stringify } from "yaml";
import { packageFile } from "../../../paths.js";
import { scenario, temporaryFolder } from "../support/fixtures.js";
import { cli, startCli } from "./support.js";

// A trial takes a second on an idle computer, and many on one that runs all tests.
vi.setConfig({ testTimeout: 120_000 });

const run = (out: string, ...more: string[]) => ["run", "--scenario", "sre-24", "--out", out, ...more];

async function until<T>(look: () => T | undefined | false, what: string): Promise<T> {
  const deadline = Date.now() + 90_000;
  for (;;) {
    const found = look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function withoutTimes(file: string): unknown[] {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const { time: _, ...event } = JSON.parse(line);
    return event;
  });
}

describe("run", () => {
  it("runs trials side by side, equal to the byte but for times, and resumes to nothing", async () => {
    const out = join(temporaryFolder(), "run");
    const { code, out: text, err } = await cli(run(out, "--trials", "2", "--concurrency", "2"));
    expect([code, err]).toEqual([0, expect.stringContaining("[2/2] sre-24")]);
    for (const title of ["DIAGNOSIS", "MITIGATION", "RESOLVED", "STEPS", "TOKENS", "VIRTUAL S", "WALL S"]) {
      expect(text).toContain(title);
    }
    expect(text.match(/^sre-24 /gm)).toHaveLength(2);
    expect(text).toContain("playbook (rule-based, not an LLM)");
    const trials = join(out, "trials", "sre-24");
    expect(readdirSync(trials)).toEqual(["1", "2"]);
    const [one, two] = ["1", "2"].map((trial) => withoutTimes(join(trials, trial, "transcript.jsonl")));
    expect(one!.length).toBeGreaterThan(10);
    expect(one).toEqual(two);
    expect(JSON.parse(readFileSync(join(out, "run.json"), "utf8"))).toMatchObject({
      model: { name: "playbook", is_llm: false },
      configuration: { trials: 2, seed: "1", model: "playbook" },
    });

    const again = await cli(run(out, "--trials", "2", "--resume", "--json"));
    expect(again.code).toBe(0);
    expect(again.err).toBe("2 of 2 trials are there already\n");
    const result = JSON.parse(again.out);
    expect(result.trials).toHaveLength(2);
    expect(result.summary).toMatchObject({ trials: 2, scenarios: 1 });
    expect(result.run).toBe(out);
  });

  it("records a model that cannot be reached, and exits 0", async () => {
    const folder = temporaryFolder();
    const models = join(folder, "models.yaml");
    const entry = { provider: "openai", model: "x", base_url: "http://127.0.0.1:9/v1", retries: 0 };
    writeFileSync(models, stringify({ models: { gone: entry } }));
    const args = run(join(folder, "run"), "--model", "gone", "--models-file", models, "--json");
    const { code, out } = await cli(args);
    expect(code).toBe(0);
    const { trials, summary } = JSON.parse(out);
    expect(trials[0]).toMatchObject({ reason: "model-error", diagnosis: 0, mitigation: 0, resolved: 0 });
    expect(trials[0].reason_detail).toMatch(/127\.0\.0\.1:9/);
    expect(summary.reasons).toEqual({ "model-error": 1 });
  });

  it("records what the testbed does not have as an environment error, and exits 1", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "mine.yaml");
    const environment = { applications: [{ id: "opentelemetry-demo" }] };
    writeFileSync(file, stringify(scenario("mine", { environment })));
    const { code, out, err } = await cli(["run", "--scenario", file, "--out", join(folder, "run")]);
    expect(code).toBe(1);
    expect(out).toMatch(/^mine .*environment-error$/m);
    expect(err).toContain("break-it");
  });

  it("Ctrl-C keeps what is finished and says how to go on; a resumed run does the rest", async () => {
    const out = join(temporaryFolder(), "run");
    const running = startCli(run(out, "--trials", "3"));
    await until(() => running.err().includes("[1/3]"), "the first trial");
    running.interrupt();
    const { code, err } = await running.done;
    expect(code).toBe(130);
    expect(err).toMatch(/interrupted: \d of 3 trials are kept; go on with --resume/);
    const kept = readdirSync(join(out, "trials", "sre-24"));
    expect(kept.length).toBeLessThan(3);
    for (const name of kept) expect(name).toMatch(/^\d$/);
    const { code: second, out: text } = await cli(run(out, "--trials", "3", "--resume"));
    expect(second).toBe(0);
    expect(text.match(/^sre-24 /gm)).toHaveLength(3);
  });

  it("counts false alarms on a healthy twin, and mitigates nothing there", async () => {
    const { code, out } = await cli(run(join(temporaryFolder(), "run"), "--healthy", "--json"));
    expect(code).toBe(0);
    const { trials, summary } = JSON.parse(out);
    expect(trials[0]).toMatchObject({ scenario: "sre-24-healthy", mitigation: null, observed: null, alerts: [] });
    expect(trials[0].false_alarm).toBe(1 - trials[0].diagnosis);
    expect(summary).toMatchObject({ mitigation: null, false_alarm: { total: 1 } });
  });

  it("shows steps with --watch, and all checks with --verbose", async () => {
    const { err, out } = await cli(run(join(temporaryFolder(), "run"), "--watch", "--verbose"));
    expect(err).toMatch(/^1\./m);
    expect(err).toContain("submit_diagnosis");
    expect(err).toContain("diagnosis begins");
    expect(out).toContain("alerts_cleared");
  });
});

describe("demo", () => {
  it("tells the story from alert to score", async () => {
    const { code, out, err } = await cli(["demo"]);
    expect([code, err]).toEqual([0, ""]);
    const parts = [
      "Alerts",
      "Diagnosis, step by step",
      "Diagnosis",
      "Mitigation, step by step",
      "Mitigation",
      "Scores",
    ];
    const places = parts.map((part) => out.indexOf(`\n${part}\n`));
    expect(places.every((place) => place > 0)).toBe(true);
    expect([...places].sort((a, b) => a - b)).toEqual(places);
    expect(out).toContain("not an LLM");
    expect(out).toContain("simulated");
    expect(out).toContain("HighRequestErrorRate");
  });
});

it("a demo whose environment fails says why", async () => {
  const file = join(temporaryFolder(), "mine.yaml");
  writeFileSync(file, stringify(scenario("mine", { environment: { applications: [{ id: "opentelemetry-demo" }] } })));
  const { code, err } = await cli(["demo", "--scenario", file]);
  expect(code).toBe(1);
  expect(err).toMatch(/the environment failed: .*break-it/);
});

describe("env up", () => {
  it("gives working addresses, and leaves nothing behind", async () => {
    const running = startCli(["env", "up", "--scenario", "sre-24"]);
    await until(() => running.out().includes("Ctrl-C takes it down"), "the environment");
    const address = (name: string) => new RegExp(`^${name}=(\\S+)$`, "m").exec(running.out())![1]!;
    const kubeconfig = address("KUBECONFIG");
    expect(readFileSync(kubeconfig, "utf8")).toContain("127.0.0.1");
    const urls = ["PROMETHEUS", "ALERTMANAGER", "LOKI", "JAEGER"].map((name) => address(`${name}_URL`));
    const [prometheus] = urls;
    const answer = await (await fetch(`${prometheus}/api/v1/query?query=up`)).json();
    expect(answer).toMatchObject({ status: "success" });
    running.interrupt();
    expect((await running.done).code).toBe(0);
    expect(existsSync(kubeconfig)).toBe(false);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  });

  it("an empty cluster, for machines", async () => {
    const running = startCli(["env", "up", "--empty", "--nodes", "2", "--json"]);
    const line = await until(() => running.out().includes("\n") && running.out(), "the environment");
    const { kubeconfig, scenario: id, roles } = JSON.parse(line);
    expect([existsSync(kubeconfig), id]).toEqual([true, null]);
    expect(existsSync(roles["read-only"].kubeconfig)).toBe(true);
    running.interrupt();
    expect(await running.done).toMatchObject({ code: 0, err: "" });
    expect(existsSync(kubeconfig)).toBe(false);
  });

  it("a port in use is named, with the way out", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const { code, err, out } = await cli(["env", "up", "--empty", "--port", String(port)]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(new RegExp(`port ${port} is in use: give another with --port`));
  });
});

const PROGRAM = packageFile("dist", "harness", "cli", "main.js");
const built = existsSync(PROGRAM);

describe.skipIf(!built)(built ? "the program" : "the program (skipped: dist/ is not built)", () => {
  function start(...args: string[]): { child: ChildProcess; err(): string; exit: Promise<number | null> } {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let err = "";
    child.stderr!.on("data", (data) => {
      err += data;
    });
    child.stdout!.resume();
    return { child, err: () => err, exit: new Promise((resolve) => child.on("exit", (code) => resolve(code))) };
  }

  it("kill -9 loses at most the trial in flight", async () => {
    const out = join(temporaryFolder(), "run");
    const { child, err, exit } = start(...run(out, "--trials", "50"));
    await until(() => err().includes("[1/50]"), "a trial");
    child.kill("SIGKILL");
    await exit;
    const folder = join(out, "trials", "sre-24");
    const whole = readdirSync(folder).filter((name) => /^\d+$/.test(name));
    expect(whole.length).toBeGreaterThanOrEqual(1);
    for (const trial of whole) {
      expect(readdirSync(join(folder, trial)).sort()).toEqual(["agent_output.json", "scores.json", "transcript.jsonl"]);
      JSON.parse(readFileSync(join(folder, trial, "scores.json"), "utf8"));
    }
    const { code, err: note } = await cli(run(out, "--trials", String(whole.length), "--resume"));
    expect(code).toBe(0);
    expect(note).toContain(`${whole.length} of ${whole.length} trials are there already`);
    expect(readdirSync(folder).every((name) => /^\d+$/.test(name))).toBe(true);
  });

  // SIGHUP: the terminal was closed.
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends a run with 130 and env up with 0", async (signal) => {
    const first = start(...run(join(temporaryFolder(), "run"), "--trials", "50"));
    await until(() => first.err().includes("[1/50]"), "a trial");
    first.child.kill(signal);
    expect(await first.exit).toBe(130);

    const second = start("env", "up", "--empty");
    let printed = "";
    second.child.stdout!.on("data", (data) => {
      printed += data;
    });
    await until(() => printed.includes("Ctrl-C"), "the environment");
    second.child.kill(signal);
    expect(await second.exit).toBe(0);
    expect(existsSync(/^KUBECONFIG=(\S+)$/m.exec(printed)![1]!)).toBe(false);
  });

  it("exits with 2 for wrong usage", async () => {
    expect(await start("run", "--scenario", "sre-240").exit).toBe(2);
  });
});
