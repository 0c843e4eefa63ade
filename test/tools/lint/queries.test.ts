/** The linters of queries: silent on what is right, and at the right place on what is not. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { packageRoot } from "../../../paths.js";
import type { Finding } from "../../../tools/lint/finding.js";
import { createKubectlLint } from "../../../tools/nl2kubectl/lint.js";
import { lintLogsQuery } from "../../../tools/nl2logs/lint.js";
import { lintMetricsQuery } from "../../../tools/nl2metrics/lint.js";
import { tracesQuery } from "../../../tools/nl2traces/generate.js";
import { lintTracesQuery } from "../../../tools/nl2traces/lint.js";
import { brokenQueries, tally } from "./broken.js";
import { type LintEnvironment, lintEnvironment } from "./environment.js";
import { BROKEN_TRACES, VALID_LOGQL, VALID_PROMQL, VALID_TRACES } from "./queries.js";

let lint: LintEnvironment;
beforeAll(async () => {
  lint = await lintEnvironment();
});
afterAll(() => lint.stop());

const kubectl = () => {
  const check = createKubectlLint(lint.context);
  return (command: string) => check({ command: lint.withPods(command) });
};
const promql = () => (query: string) => lintMetricsQuery({ promql: query }, lint.context);
const logql = () => (query: string) => lintLogsQuery({ logql: query, minutes: 15, limit: 100 }, lint.context);

describe("broken queries", () => {
  it.each<[string, string, number, () => (query: string) => Promise<Finding[]>]>([
    ["kubectl", "broken-kubectl.txt", 130, kubectl],
    ["PromQL", "broken-promql.txt", 95, promql],
    ["LogQL", "broken-logql.txt", 60, logql],
  ])(
    "%s: at least 95 %% are caught at the right place",
    async (_name, file, atLeast, make) => {
      const check = make();
      const all: { broken: ReturnType<typeof brokenQueries>[number]; findings: Finding[] }[] = [];
      for (const broken of brokenQueries(file)) all.push({ broken, findings: await check(broken.query) });
      expect(all.length).toBeGreaterThanOrEqual(atLeast);
      const { share, rest } = tally(all);
      expect(share, rest.join("\n")).toBeGreaterThanOrEqual(0.95);
      for (const { findings } of all) for (const { message } of findings) expect(message.length).toBeGreaterThan(10);
    },
    120_000,
  );

  it.each(BROKEN_TRACES)("Jaeger: $parameter of $query", async ({ query, parameter }) => {
    const findings = await lintTracesQuery(tracesQuery(query(lint.context.clock.now())), lint.context);
    expect(findings.map(({ word }) => word)).toContain(parameter);
  });
});

describe("valid queries", () => {
  it.each(VALID_PROMQL)("PromQL: %s", async (query) => expect(await promql()(query)).toEqual([]));
  it.each(VALID_LOGQL)("LogQL: %s", async (query) => expect(await logql()(query)).toEqual([]));
  it.each(VALID_TRACES)("Jaeger: %j", async (query) => {
    expect(await lintTracesQuery(tracesQuery(query), lint.context)).toEqual([]);
  });
});

const RULES = join(packageRoot(), "../shared/data/itbench/rules");

describe.skipIf(!existsSync(RULES))("ITBench's rule files (skipped without ../shared)", () => {
  it.each(existsSync(RULES) ? readdirSync(RULES) : [])(
    "%s: no false alarm",
    async (file) => {
      const expressions: string[] = [];
      const walk = (value: unknown): void => {
        if (Array.isArray(value)) value.forEach(walk);
        else if (typeof value === "object" && value !== null)
          for (const [key, one] of Object.entries(value)) key === "expr" ? expressions.push(String(one)) : walk(one);
      };
      for (const document of parseAllDocuments(readFileSync(join(RULES, file), "utf8"))) walk(document.toJS());
      expect(expressions.length).toBeGreaterThan(0);
      const check = promql();
      const alarms: string[] = [];
      for (const expression of expressions)
        for (const { message } of await check(expression)) alarms.push(`${expression}\n    ${message}`);
      expect(alarms).toEqual([]);
    },
    120_000,
  );
});
