/** ITBench's own kubectl solutions, on a server that has everything that they name. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../../paths.js";
import { KubectlLinter } from "../../../tools/kubectl/index.js";
import { findingText } from "../../../tools/lint/finding.js";
import { type AgreeableServer, agreeableServer } from "./agreeable-server.js";

const SCENARIOS = join(packageRoot(), "../shared/data/itbench/scenarios");

function commands(): string[] {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (typeof value === "object" && value !== null)
      for (const [key, one] of Object.entries(value)) {
        if (key === "command" && typeof one === "string" && one.startsWith("kubectl ")) found.add(one);
        else walk(one);
      }
  };
  for (const file of readdirSync(SCENARIOS)) walk(JSON.parse(readFileSync(join(SCENARIOS, file), "utf8")).solutions);
  return [...found].sort();
}

/** Commands that truly cannot run, with what is said of them. */
const TRUE_ALARMS: [RegExp, RegExp][] = [
  [/ edit /, /no editor is available/],
  // An annotation behind a deletion: kubectl itself takes it for the name of a second object.
  [/ delete schedule \S+ experiment/, /no need to specify a resource type|may not have more than one slash/],
  [/\{\{ .* \}\}/, /placeholder/],
];

describe.skipIf(!existsSync(SCENARIOS))("ITBench's solutions (skipped without ../shared)", () => {
  let server: AgreeableServer;
  beforeAll(async () => {
    server = await agreeableServer();
  });
  afterAll(() => server.close());

  it("have no false alarm", async () => {
    const linter = new KubectlLinter({
      kubeconfig: server.kubeconfig,
      mode: "read-write",
      namespaces: ["otel-demo", "book-info", "chaos-mesh"],
      now: () => 0,
    });
    const all = commands();
    expect(all.length).toBeGreaterThan(80);
    const alarms: string[] = [];
    for (const command of all) {
      const said = (await linter.lint(command)).map(findingText).join("; ");
      const expected = TRUE_ALARMS.find(([pattern]) => pattern.test(command));
      if (expected === undefined ? said !== "" : !expected[1].test(said)) alarms.push(`${command}\n    ${said}`);
    }
    await linter.close();
    expect(alarms).toEqual([]);
  });
});
