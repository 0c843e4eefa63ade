/** An agent's context for tests: nothing behind the endpoints, a clock that only moves when told. */
import { type AgentContext, DEFAULT_AGENT_OPTIONS, DEFAULT_LIMITS, MemoryTranscript } from "../../agents/index.js";
import type { ScriptedModel } from "./scripted-model.js";

export interface TestContext extends AgentContext {
  transcript: MemoryTranscript;
  /** Seconds that were slept. */
  slept: number[];
}

export function testContext(
  model: ScriptedModel,
  changes: Partial<Omit<AgentContext, "options" | "limits">> & {
    options?: Partial<AgentContext["options"]>;
    limits?: Partial<AgentContext["limits"]>;
  } = {},
): TestContext {
  let now = Date.parse("2026-01-01T12:00:00Z");
  const slept: number[] = [];
  return {
    endpoints: {
      kubeconfig: "/nowhere/kubeconfig",
      prometheus: "http://127.0.0.1:9",
      alertmanager: "http://127.0.0.1:9",
      loki: "http://127.0.0.1:9",
      jaeger: "http://127.0.0.1:9",
    },
    clock: {
      now: () => now,
      sleep: async (seconds) => {
        slept.push(seconds);
        now += seconds * 1000;
      },
    },
    model,
    modelName: "scripted",
    protocol: "tool-calling",
    namespaces: ["shop"],
    ...changes,
    transcript: new MemoryTranscript(),
    slept,
    limits: { ...DEFAULT_LIMITS, ...changes.limits },
    options: { ...DEFAULT_AGENT_OPTIONS, ...changes.options },
  };
}

/** The events of a kind, without number and time. */
export function events(context: TestContext, kind: string): any[] {
  return context.transcript.events
    .filter((event) => event.event === kind)
    .map(({ seq: _s, time: _t, ...event }) => event);
}
