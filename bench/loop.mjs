/**
 * What the loop itself costs a step: everything but the model and the tool's own work. The same conversation through our
 * loop and through a bare `createAgent`; then a task of 20 steps with observations of 1 MB. Targets: 5 ms, 150 MB.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const STEPS = 20;
const MEGABYTE = 1_000_000;

/** A chat model that calls `look` `steps` times and then submits; remembers the time that it took itself. */
async function scriptedModel(steps, answerInText) {
  const { BaseChatModel } = await import("@langchain/core/language_models/chat_models");
  const { AIMessage } = await import("@langchain/core/messages");
  class Scripted extends BaseChatModel {
    calls = 0;
    _llmType() {
      return "scripted";
    }
    bindTools() {
      return this;
    }
    async _generate() {
      const n = ++this.calls;
      const usage_metadata = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
      const call = (name, args) => ({ type: "tool_call", id: `c${String(n).padStart(8, "0")}`, name, args });
      const message =
        n <= steps
          ? new AIMessage({ content: "next", tool_calls: [call("look", { what: `thing ${n}` })], usage_metadata })
          : answerInText
            ? new AIMessage({ content: "done", usage_metadata })
            : new AIMessage({ content: "", tool_calls: [call("submit", { answer: "done" })], usage_metadata });
      return { generations: [{ text: message.text, message }] };
    }
  }
  return new Scripted({});
}

async function lookTool(bytes) {
  const { tool } = await import("@langchain/core/tools");
  const { z } = await import("zod");
  const line = `${"x".repeat(99)}\n`;
  let n = 0;
  return tool(async () => `${++n}\n${line.repeat(Math.ceil(bytes / line.length))}`, {
    name: "look",
    description: "Looks.",
    schema: z.object({ what: z.string() }),
  });
}

/** Milliseconds of one task of `STEPS` steps in our loop. */
async function ours(bytes) {
  const { z } = await import("zod");
  const { runReact } = await import("../dist/agents/react/index.js");
  const { DEFAULT_AGENT_OPTIONS, MemoryTranscript } = await import("../dist/agents/index.js");
  const model = await scriptedModel(STEPS, false);
  const look = await lookTool(bytes);
  const endpoints = { kubeconfig: "", prometheus: "", alertmanager: "", loki: "", jaeger: "" };
  const context = {
    endpoints,
    clock: { now: () => 0, sleep: async () => {} },
    model,
    modelName: "scripted",
    protocol: "tool-calling",
    limits: { maxSteps: STEPS + 5 },
    options: DEFAULT_AGENT_OPTIONS,
    namespaces: [],
    transcript: new MemoryTranscript(),
  };
  const task = {
    persona: "sre",
    task: "bench",
    system: { name: "bench", variant: "default", text: "You are measured.", hash: "0" },
    message: "Begin.",
    tools: () => [look],
    submit: { name: "submit", description: "Ends.", schema: z.object({ answer: z.string() }) },
  };
  const began = performance.now();
  const outcome = await runReact(task, context);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return performance.now() - began;
}

/** The same conversation in `createAgent` alone. */
async function bare() {
  const { createAgent } = await import("langchain");
  const agent = createAgent({ model: await scriptedModel(STEPS, true), tools: [await lookTool(100)] });
  const began = performance.now();
  await agent.invoke({ messages: [{ role: "user", content: "Begin." }] }, { recursionLimit: 1000 });
  return performance.now() - began;
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

async function child(what) {
  if (what === "memory") {
    await ours(100);
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    await ours(MEGABYTE);
    clearInterval(timer);
    peak = Math.max(peak, process.memoryUsage().rss);
    console.log(JSON.stringify({ extraMb: (peak - before) / 1e6 }));
    return;
  }
  const run = what === "bare" ? bare : () => ours(100);
  for (let i = 0; i < 3; i++) await run();
  const steps = [];
  const cpu = [];
  for (let i = 0; i < 15; i++) {
    const before = process.cpuUsage();
    steps.push((await run()) / (STEPS + 1));
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1000 / (STEPS + 1));
  }
  console.log(JSON.stringify({ ms: median(steps), cpu: median(cpu) }));
}

function measure(what) {
  const args = ["--expose-gc", fileURLToPath(import.meta.url), "child", what];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (!stdout) throw new Error(stderr);
  return JSON.parse(stdout);
}

if (process.argv[2] === "child") {
  await child(process.argv[3]);
} else {
  const row = (label, value, target) => console.log(`  ${label.padEnd(42)} ${value.padStart(22)}   ${target}`);
  console.log(`the loop, ${STEPS} steps`);
  // On a machine that others use, the CPU time tells more than the clock.
  const show = ({ ms, cpu }) => `${ms.toFixed(2)} ms (CPU ${cpu.toFixed(2)} ms)`;
  row("a step of ours, median", show(measure("ours")), "target 5 ms");
  row("a step of a bare createAgent, median", show(measure("bare")), "for comparison");
  row("extra memory, observations of 1 MB", `${measure("memory").extraMb.toFixed(0)} MB`, "target 150 MB");
}
