import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { scenarioHash } from "../../../harness/run/index.js";
import { findScenario, libraryScenarios } from "../../../harness/scenario/index.js";
import { scenario, temporaryFolder } from "../support/fixtures.js";
import { cli } from "./support.js";

describe("help", () => {
  it.each([
    [[], ["run", "demo", "env", "scenarios", "doctor", "Exit codes", "Examples"]],
    [["run"], ["--scenario", "--model", "--protocol", "--resume", "Examples", "Exit codes"]],
    [["demo"], ["--scenario", "Example"]],
    [
      ["env", "up"],
      ["--empty", "--nodes", "--port", "--no-inject", "Examples"],
    ],
    [["scenarios"], ["list", "show", "validate"]],
    [["doctor"], ["--json"]],
  ])("of %j says what there is, and how", async (command, words) => {
    const { code, out, err } = await cli([...command, "--help"]);
    expect([code, err]).toEqual([0, ""]);
    for (const word of words) expect(out).toContain(word);
  });
  it("the version is the package's", async () => {
    expect((await cli(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("wrong usage ends with 2 and says what to do", () => {
  const cases: [string, string[], RegExp][] = [
    ["no command", [], /Usage: itbench/],
    ["unknown command", ["rnu"], /unknown command 'rnu'[\s\S]*Did you mean run/],
    ["unknown option", ["run", "--scenario", "sre-24", "--modle", "x"], /unknown option '--modle'[\s\S]*--model/],
    ["no scenario", ["run"], /required option '--scenario/],
    ["unknown scenario", ["run", "--scenario", "sre-240"], /unknown scenario "sre-240"\. Did you mean .*sre-24/],
    ["scenario file that is not there", ["run", "--scenario", "no/x.json"], /no\/x\.json: no such file/],
    ["unknown model", ["run", "--scenario", "sre-24", "--model", "gpt"], /unknown model "gpt"\. Give "playbook"/],
    ["unknown provider", ["run", "--scenario", "sre-24", "--model", "nobody:x"], /unknown provider "nobody"/],
    [
      "missing key",
      ["run", "--scenario", "sre-24", "--model", "openai:gpt-4o"],
      /set the environment variable OPENAI_API_KEY/,
    ],
    [
      "unknown protocol",
      ["run", "--scenario", "sre-24", "--protocol", "x"],
      /Allowed choices are tool-calling, react-text/,
    ],
    [
      "no trials",
      ["run", "--scenario", "sre-24", "--trials", "0"],
      /'--trials <n>' argument '0' is invalid.*1 or more/,
    ],
    [
      "unknown extra tool",
      ["run", "--scenario", "sre-24", "--extra-tools", "topology,magic"],
      /there is no tool magic; give all, none, or some of topology, changes, log_patterns/,
    ],
    ["no extra tool", ["run", "--scenario", "sre-24", "--extra-tools", ","], /give all, none, or some of/],
    ["half a trial", ["run", "--scenario", "sre-24", "--trials", "1.5"], /must be a whole number/],
    ["no number", ["run", "--scenario", "sre-24", "--timeout", "soon"], /must be a number above 0/],
    ["env without what", ["env", "up"], /give --scenario <id\|path>, or --empty/],
    ["env with both", ["env", "up", "--empty", "--scenario", "sre-24"], /cannot be used with option/],
    ["env with a bad port", ["env", "up", "--empty", "--port", "99999"], /must be a TCP port/],
    ["env of an unknown scenario", ["env", "up", "--scenario", "sre-240"], /unknown scenario/],
    ["demo of an unknown scenario", ["demo", "--scenario", "sre-240"], /unknown scenario/],
    ["show of nothing", ["scenarios", "show"], /missing required argument/],
  ];
  it.each(cases)("%s", async (_what, args, message) => {
    const { code, out, err } = await cli(args);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/\n\s+at /);
    expect([code, out]).toEqual([2, ""]);
  });

  it("a malformed scenario file: file, line, field, fix", async () => {
    const file = join(temporaryFolder(), "mine.yaml");
    writeFileSync(file, "id: mine\npersona: sre\ndescripton: x\n");
    const { code, err } = await cli(["run", "--scenario", file]);
    expect(code).toBe(2);
    expect(err).toContain(`${file}:3: descripton: unknown field (did you mean \`description\`?)`);
    expect(err).toContain("environment: is missing");
  });

  it("a malformed models file", async () => {
    const file = join(temporaryFolder(), "models.yaml");
    writeFileSync(file, "models: 3");
    const { code, err } = await cli(["run", "--scenario", "sre-24", "--model", "x", "--models-file", file]);
    expect(code).toBe(2);
    expect(err).toContain(file);
  });

  it("native kubectl without a kubectl", async () => {
    const { code, err } = await cli(["run", "--scenario", "sre-24", "--kubectl", "native"], {
      env: { PATH: temporaryFolder() },
    });
    expect(code).toBe(2);
    expect(err).toMatch(/no kubectl on your PATH.*brew install kubectl.*--kubectl builtin/);
  });

  describe("run folders", () => {
    const args = (out: string, ...more: string[]) => ["run", "--scenario", "sre-24", "--out", out, ...more];
    it("one that holds something else", async () => {
      const out = temporaryFolder();
      writeFileSync(join(out, "notes.txt"), "");
      expect(await cli(args(out))).toMatchObject({
        code: 2,
        err: expect.stringMatching(/is not empty and holds no run/),
      });
    });
    it.each(["{", "null", "{}"])("one that is damaged: %s", async (content) => {
      const out = temporaryFolder();
      writeFileSync(join(out, "run.json"), content);
      expect(await cli(args(out, "--resume"))).toMatchObject({
        code: 2,
        err: expect.stringMatching(/run\.json is damaged/),
      });
    });
    it("one of another run, or of another configuration", async () => {
      const out = temporaryFolder();
      const run = { configuration: { scenarios: [{ id: "sre-24", hash: "0" }], model: "openai:gpt-4o", trials: 3 } };
      writeFileSync(join(out, "run.json"), JSON.stringify(run));
      expect(await cli(args(out))).toMatchObject({
        code: 2,
        err: expect.stringMatching(/holds a run already.*--resume/),
      });
      const resumed = await cli(args(out, "--resume"));
      expect(resumed.code).toBe(2);
      expect(resumed.err).toMatch(/is a run of another configuration/);
      expect(resumed.err).toContain('model: "openai:gpt-4o" -> "playbook"');
      expect(resumed.err).toContain(
        `scenario sre-24 has changed (0 -> ${scenarioHash(findScenario("sre-24").scenario)})`,
      );
      expect(resumed.err).not.toContain("trials");
    });
  });
});

describe("scenarios", () => {
  it("lists the library, also for machines", async () => {
    const { code, out } = await cli(["scenarios", "list"]);
    expect(code).toBe(0);
    for (const { id } of libraryScenarios()) expect(out).toMatch(new RegExp(`^${id} `, "m"));
    const json = JSON.parse((await cli(["scenarios", "list", "sre-2*", "--json"])).out);
    expect(json.map((entry: { id: string }) => entry.id)).toEqual(["sre-2", "sre-20", "sre-24"]);
    expect(json[0]).toMatchObject({ persona: "sre", application: "opentelemetry-demo", complexity: "medium" });
  });
  it.each(libraryScenarios())("shows $id", async ({ id }) => {
    const { code, out, err } = await cli(["scenarios", "show", id]);
    expect([code, err]).toEqual([0, ""]);
    for (const part of ["Fault", "Root causes", "How it spreads", "How it is solved"]) expect(out).toContain(part);
    const json = JSON.parse((await cli(["scenarios", "show", id, "--json"])).out);
    expect(json.scenario.id).toBe(id);
    expect(json.complexity.level).toMatch(/easy|medium|hard/);
  });
  it("validates: the library is valid, without a warning", async () => {
    const results = JSON.parse((await cli(["scenarios", "validate", "--json"])).out);
    expect(results.length).toBe(libraryScenarios().length);
    for (const result of results) expect(result).toMatchObject({ warnings: [] });
  });
  it("validates each by itself: one bad file does not hide the others", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "bad.yaml"), "id: x");
    const { code, out, err } = await cli(["scenarios", "validate", "sre-24", join(folder, "bad.yaml"), "sre-30"]);
    expect(code).toBe(2);
    expect(out).toContain("2 valid, 1 invalid");
    expect(err).toContain("bad.yaml:1: persona: is missing");
  });
  it.each([
    ["an application", "opentelemetry-demo", "no-such-app", "no application no-such-app"],
    [
      "a fault",
      "container-environment-variable",
      "no-such-fault",
      "no fault mechanism modified-kubernetes-workload-no-such",
    ],
    ["an argument", "name: KAFKA_ADDR", "nme: KAFKA_ADDR", "args.container.env.name"],
  ])("warns where %s does not exist here", async (_what, was, is, message) => {
    const folder = temporaryFolder();
    const source = readFileSync(findScenario("sre-24").file, "utf8");
    writeFileSync(join(folder, "mine.yaml"), source.replace(was, is));
    const { code, out } = await cli(["scenarios", "validate", join(folder, "mine.yaml")]);
    expect(code).toBe(0);
    expect(out).toContain("warning: does not run here: no ");
    expect(out).toContain(message);
  });
});

describe("doctor", () => {
  it("finds what is there, and says how to get what is not", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "bin"));
    const program = join(folder, "bin", "kubectl");
    writeFileSync(program, "#!/bin/sh\necho Client Version: v9.9.9\n");
    chmodSync(program, 0o755);
    const env = { PATH: join(folder, "bin"), HOME: folder, OLLAMA_HOST: "127.0.0.1:9", OPENAI_API_KEY: "sk-secret" };
    const { code, out } = await cli(["doctor"], { env });
    expect(code).toBe(0);
    expect(out).toMatch(/✓ +Node/);
    expect(out).toMatch(/✓ +kubectl +Client Version: v9\.9\.9/);
    expect(out).toMatch(/- +opa +not on the PATH/);
    expect(out).toMatch(/- +Ollama +no answer at http:\/\/127\.0\.0\.1:9/);
    expect(out).toMatch(/✓ +OPENAI_API_KEY +set/);
    expect(out).toContain("brew install opa");
    expect(out).not.toContain("sk-secret");
    const json = JSON.parse((await cli(["doctor", "--json"], { env })).out);
    expect(json).toMatchObject({ ok: true });
  });
  it("a damaged models file is a failure", async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, ".config", "itbench"), { recursive: true });
    writeFileSync(join(home, ".config", "itbench", "models.yaml"), "models: 3");
    const { code, out } = await cli(["doctor"], { env: { PATH: "", HOME: home, OLLAMA_HOST: "127.0.0.1:9" } });
    expect(code).toBe(1);
    expect(out).toMatch(/✗ +models\.yaml/);
  });
});

describe("colours", () => {
  const esc = String.fromCharCode(27);
  it.each([
    ["on a terminal", { tty: true }, true],
    ["not in a pipe", { tty: false }, false],
    ["not with NO_COLOR", { tty: true, env: { NO_COLOR: "1" } }, false],
    ["not on a dumb terminal", { tty: true, env: { TERM: "dumb" } }, false],
    ["in a pipe with FORCE_COLOR", { tty: false, env: { FORCE_COLOR: "1" } }, true],
  ])("%s", async (_what, options, coloured) => {
    const { out } = await cli(["scenarios", "show", "sre-24"], options);
    expect(out.includes(esc)).toBe(coloured);
  });
});

describe("what runs here", () => {
  it("every scenario of the library does", async () => {
    const json = JSON.parse((await cli(["scenarios", "list", "--json"])).out);
    for (const entry of json) expect([entry.id, entry.missing]).toEqual([entry.id, []]);
  });
  it.each([
    ["an application", { environment: { applications: [{ id: "shop" }] } }, "application shop"],
    ["a fault mechanism", {}, "fault mechanism break-it"],
    [
      "an argument",
      { disruptions: [{ injections: [{ id: "scaled-to-zero-kubernetes-workload", args: {} }] }] },
      "scaled-to-zero-kubernetes-workload: args.kubernetesObject",
    ],
  ])("%s that the testbed does not have is named", async (_what, changes, missing) => {
    const file = join(temporaryFolder(), "mine.yaml");
    writeFileSync(file, stringify(scenario("mine", changes)));
    const { code, out } = await cli(["scenarios", "list", file]);
    expect(code).toBe(0);
    expect(out).toMatch(/^mine .* no /m);
    expect(out).toContain(missing);
    expect((await cli(["scenarios", "show", file])).out).toContain(missing);
  });
});
