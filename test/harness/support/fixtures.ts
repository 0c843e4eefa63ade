/** Scenarios, agents and configurations for tests of the harness. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type Agent,
  type AgentContext,
  DEFAULT_AGENT_OPTIONS,
  type Outcome,
  type OutcomeStatus,
  type Usage,
} from "../../../agents/agent.js";
import type { SreDiagnosis, SreMitigation } from "../../../agents/sre/output.js";
import { type RunConfiguration, scenarioHash } from "../../../harness/run/index.js";
import { type Scenario, scenarioSchema } from "../../../harness/scenario/index.js";
import { DEFAULT_VERIFICATION } from "../../../harness/score/index.js";
import type { ResolvedModel } from "../../../models/index.js";

export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "itbench-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function scenario(id = "sre-1", changes: Partial<Scenario> = {}): Scenario {
  return scenarioSchema.parse({
    id,
    persona: "sre",
    description: "the cart is broken",
    environment: { applications: [{ id: "shop" }] },
    disruptions: [{ injections: [{ id: "break-it", args: {} }] }],
    alerts: ["HighRequestErrorRate"],
    ground_truth: {
      groups: [{ id: "cart", kind: "Deployment", namespace: "shop", name: "cart", root_cause: true }],
    },
    ...changes,
  });
}

export function configuration(scenarios: Scenario[], changes: Partial<RunConfiguration> = {}): RunConfiguration {
  return {
    scenarios: scenarios.map((one) => ({ id: one.id, hash: scenarioHash(one) })),
    model: "scripted",
    protocol: "tool-calling",
    trials: 1,
    seed: "1",
    step_seconds: 10,
    alert_timeout_seconds: 900,
    verification: DEFAULT_VERIFICATION,
    limits: { maxSteps: 20 },
    options: DEFAULT_AGENT_OPTIONS,
    ...changes,
  };
}

export const usage: Usage = {
  steps: 2,
  toolCalls: 2,
  inputTokens: 100,
  outputTokens: 10,
  cachedTokens: 0,
  nestedCalls: 0,
  lintFindings: 0,
  reflections: 0,
};

export const model: ResolvedModel = {
  name: "scripted",
  provider: "test",
  model: "scripted",
  chat: undefined as never,
  isLlm: false,
  parameters: {},
  secrets: [],
};

export interface ScriptedAgent {
  /** Entities named as root causes; undefined: no answer. */
  diagnosis?: string[] | undefined;
  diagnosisStatus?: OutcomeStatus;
  mitigationStatus?: OutcomeStatus;
  /** What the mitigation does to the environment. */
  act?(): void;
  onTask?(context: AgentContext, task: "diagnosis" | "mitigation"): void | Promise<void>;
}

export function scriptedAgent(script: ScriptedAgent): Agent {
  return {
    persona: "sre",
    async run(task: { task: "diagnosis" | "mitigation" }, context) {
      context.transcript.write({
        event: "message",
        role: "user",
        content: task.task,
        seq: 1,
        time: { virtual: "", wall_ms: 0 },
      });
      await script.onTask?.(context, task.task);
      await context.onStep?.();
      await context.onStep?.();
      if (task.task === "diagnosis") {
        const status = script.diagnosisStatus ?? "ok";
        if (status !== "ok" || script.diagnosis === undefined) return { status, usage, detail: "as scripted" };
        const output: SreDiagnosis = {
          entities: script.diagnosis.map((name) => ({ name, contributing_factor: true, reasoning: "", evidence: "" })),
          propagations: [],
          alerts_explained: [],
        };
        return { status: "ok", output, usage } satisfies Outcome;
      }
      script.act?.();
      const status = script.mitigationStatus ?? "ok";
      const output: SreMitigation = { plan: [], actions: [], verified: true };
      return status === "ok" ? { status, output, usage } : { status, usage };
    },
  };
}
