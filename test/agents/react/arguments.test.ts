import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkArguments } from "../../../agents/react/arguments.js";
import { diagnosisSchema } from "../../../agents/sre/output.js";
import {
  createNl2Alerts,
  createNl2Kubectl,
  createNl2Metrics,
  createNl2Traces,
  createWait,
} from "../../../tools/index.js";
import { toolContext } from "../../support/tool-context.js";

const context = toolContext("http://127.0.0.1:9");
const direct = toolContext("http://127.0.0.1:9", [], { mode: "direct" });

describe("checkArguments", () => {
  it.each<[string, { schema: unknown }, unknown, Record<string, unknown>]>([
    ["text for nl2kubectl", createNl2Kubectl(context), "kubectl get pods", { question: "kubectl get pods" }],
    ["text for nl2kubectl, direct", createNl2Kubectl(direct), "kubectl get pods", { command: "kubectl get pods" }],
    ["text for nl2metrics", createNl2Metrics(context), "error rates?", { question: "error rates?" }],
    ["text for nl2metrics, direct", createNl2Metrics(direct), 'up{job="a"}', { query: 'up{job="a"}' }],
    ["a bare selector", createNl2Metrics(direct), '{job="a"}', { query: '{job="a"}' }],
    ["text for nl2traces", createNl2Traces(context), "which calls fail?", { question: "which calls fail?" }],
    ["a state for nl2alerts", createNl2Alerts(context), "pending", { state: "pending" }],
    ["a name for nl2alerts", createNl2Alerts(context), "cart", { match: "cart" }],
    ["a number for wait", createWait(context), "60", { seconds: 60 }],
    ["a number with its unit", createWait(context), { seconds: "90s" }, { seconds: 90 }],
    ["JSON text", createWait(context), '{"seconds": "30"}', { seconds: 30 }],
    ["wrapped text", createNl2Kubectl(context), { input: "pods?" }, { question: "pods?" }],
    ["wrapped JSON text", createWait(context), { args: '{"seconds": 5}' }, { seconds: 5 }],
    ["twice wrapped", createWait(context), { input: { args: { seconds: 5 } } }, { seconds: 5 }],
    ["nothing", createNl2Alerts(context), undefined, {}],
    ["null", createNl2Alerts(context), null, {}],
    ["nulls", createNl2Alerts(context), { state: null, match: null }, {}],
    ["yes", createNl2Traces(context), { service: "a", errors_only: "yes" }, { service: "a", errors_only: true }],
  ])("%s", (_name, tool, given, args) => {
    expect(checkArguments(tool.schema as z.ZodTypeAny, given)).toEqual({ ok: true, args });
  });

  const entity = { name: "a/Pod/b", contributing_factor: true, reasoning: "r", evidence: "e" };
  const whole = { entities: [entity], propagations: [], alerts_explained: [] };
  it.each<[string, unknown]>([
    ["an entity alone instead of a list", { entities: entity }],
    ["a list as JSON text", { entities: JSON.stringify([entity]) }],
    ["a list as JSON text, in single quotes", { entities: JSON.stringify([entity]).replaceAll('"', "'") }],
    ["an entity as JSON text", { entities: [JSON.stringify(entity)] }],
    ["a boolean as text", { entities: [{ ...entity, contributing_factor: "True" }] }],
    ["needless nulls", { entities: [entity], propagations: null, alerts_explained: null, summary: null }],
    ["everything as JSON text", JSON.stringify(whole)],
    ["an empty text for a list", { entities: [entity], propagations: "" }],
  ])("an answer with %s", (_name, given) => {
    expect(checkArguments(diagnosisSchema, given)).toEqual({ ok: true, args: whole });
  });

  it("mends evidence given as a list or a number", () => {
    const given = { entities: [{ ...entity, evidence: ["one", "two"], reasoning: 3 }] };
    const checked = checkArguments(diagnosisSchema, given);
    expect(checked).toMatchObject({ ok: true, args: { entities: [{ evidence: '["one","two"]', reasoning: "3" }] } });
  });

  it("says each thing that it cannot mend", () => {
    const given = { entities: [{ name: "b", reasoning: "r" }], propagations: [{}] };
    const checked = checkArguments(diagnosisSchema, given);
    expect(checked.ok || checked.problems).toEqual([
      expect.stringContaining('entities.0.name: must have the form "namespace/Kind/name"'),
      "entities.0.contributing_factor: is missing (boolean)",
      "entities.0.evidence: is missing (string)",
      "propagations.0.source: is missing (string)",
      "propagations.0.target: is missing (string)",
      "propagations.0.condition: is missing (string)",
      "propagations.0.effect: is missing (string)",
    ]);
  });

  it("does not change what it was given", () => {
    const given = { a: "1" };
    checkArguments(z.object({ a: z.number() }), given);
    expect(given).toEqual({ a: "1" });
  });
});
