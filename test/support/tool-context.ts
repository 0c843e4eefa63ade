/** A tool's context for tests: answers of the nested model are written down, queries run once, without reflexion. */
import { type ToolContext, ToolFailure } from "../../tools/index.js";

export interface TestToolContext extends ToolContext {
  /** Prompts that the nested model was asked. */
  asked: string[];
  slept: number[];
}

export function toolContext(url: string, answers: string[] = [], changes: Partial<ToolContext> = {}): TestToolContext {
  let now = Date.parse("2026-01-01T12:00:00Z");
  const asked: string[] = [];
  const slept: number[] = [];
  return {
    endpoints: { kubeconfig: "/nowhere", prometheus: url, alertmanager: url, loki: url, jaeger: url },
    clock: {
      now: () => now,
      sleep: async (seconds) => {
        slept.push(seconds);
        now += seconds * 1000;
      },
    },
    namespaces: ["shop"],
    mode: "nl2x",
    writes: false,
    kubectl: "builtin",
    promptVariant: "default",
    examples: true,
    ask: async (prompt) => {
      asked.push(prompt.text);
      return answers[asked.length - 1] ?? "";
    },
    async run(steps) {
      const query = steps.literal ?? (await steps.write(this.ask));
      const findings = await steps.lint(query);
      if (findings.length > 0) throw new ToolFailure(findings.join("\n"));
      return steps.execute(query);
    },
    observation: () => undefined,
    onEnd: () => undefined,
    ...changes,
    asked,
    slept,
  };
}
