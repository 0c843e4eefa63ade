/** `itbench chat`: talk with an agent about an environment. */
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { type AgentContext, DEFAULT_AGENT_OPTIONS, type ProtocolName } from "../../agents/agent.js";
import type { RecordedEvent } from "../../agents/react/transcript.js";
import { createMasker, resolveModel, sleep, toModelError } from "../../models/index.js";
import { promptVariants } from "../../prompts/index.js";
import { createSimulated } from "../run/environments.js";
import { findScenario } from "../scenario/index.js";
import { EXIT, UsageError } from "./errors.js";
import { colorsFor, type Io } from "./io.js";
import { stepPrinter } from "./steps.js";

export interface ChatFlags {
  scenario?: string;
  kubeconfig?: string;
  prometheus?: string;
  alertmanager?: string;
  loki?: string;
  jaeger?: string;
  opencost?: string;
  namespace?: string[];
  model: string;
  protocol: ProtocolName;
  ask?: string[];
  allowWrites?: boolean;
  inject: boolean;
  seed: string;
  maxSteps: number;
  prompt: string;
  modelsFile?: string;
  baseUrl?: string;
  verbose?: boolean;
}

/** Environment seconds to wait for a fault's alerts before the conversation begins. */
const ALERT_TIMEOUT = 900;

interface Place {
  context: Pick<AgentContext, "endpoints" | "clock" | "namespaces">;
  application?: string;
  /** Tools whose backend is not there. */
  without: string[];
  about: string;
  stop(): Promise<void>;
}

export async function chatCommand(flags: ChatFlags, io: Io): Promise<number> {
  if (!flags.scenario === !flags.kubeconfig)
    throw new UsageError("chat: give --scenario <id|path> or --kubeconfig <path>");
  // Before anything is brought up: a wrong word must not leave an environment behind.
  const variants = promptVariants();
  if (!variants.includes(flags.prompt)) {
    throw new UsageError(`--prompt: there is no prompt variant "${flags.prompt}"; there are: ${variants.join(", ")}`);
  }
  const model = await resolveModel(flags.model, {
    env: io.env,
    ...(flags.modelsFile === undefined ? {} : { modelsFile: flags.modelsFile }),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
  });
  if (!model.isLlm && model.provider !== "replay") {
    throw new UsageError(`chat: ${flags.model} is no LLM and cannot talk; give --model provider:model`);
  }
  const c = colorsFor(io);
  const mask = createMasker(model.secrets);
  const place = flags.kubeconfig ? await openCluster(flags) : await openScenario(flags);
  const { createSreChat } = await import("../../agents/sre/index.js");
  let streamed = false;
  const steps = stepPrinter({
    write: (text) => io.err(`${text}\n`),
    colors: colorsFor(io, io.errIsTty),
    columns: io.columns,
    full: flags.verbose === true,
  });
  const chat = createSreChat(
    {
      ...(place.application === undefined ? {} : { application: place.application }),
      writes: flags.allowWrites === true,
      without: place.without,
      onToken: (token) => {
        streamed = true;
        io.out(token);
      },
    },
    {
      ...place.context,
      model: model.chat,
      modelName: model.name,
      ...(model.price === undefined ? {} : { price: model.price }),
      ...(model.contextWindow === undefined ? {} : { contextWindow: model.contextWindow }),
      protocol: flags.protocol,
      limits: { maxSteps: flags.maxSteps },
      options: { ...DEFAULT_AGENT_OPTIONS, promptVariant: flags.prompt },
      transcript: {
        write: (event: RecordedEvent) => {
          // Words before a call have been streamed; the call begins on a line of its own.
          if (event.event === "tool_call" && streamed) io.out("\n");
          streamed = false;
          steps.write(event);
        },
      },
      secrets: model.secrets,
    },
  );

  let question: AbortController | undefined;
  let leave = () => {};
  const left = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
  });
  const stopListening = io.onInterrupt(() => {
    if (question === undefined) leave();
    else question.abort(new Error("interrupted"));
  });
  const answer = async (text: string): Promise<boolean> => {
    question = new AbortController();
    streamed = false;
    try {
      const said = await chat.say(text, question.signal);
      io.out(streamed ? "\n" : `${said}\n`);
      return true;
    } catch (error) {
      if (question.signal.aborted) io.err("interrupted\n");
      else io.err(`${c.red(`${toModelError(error).kind}: ${mask((error as Error).message)}`)}\n`);
      return false;
    } finally {
      question = undefined;
    }
  };
  try {
    let failed = false;
    if (flags.ask !== undefined) {
      for (const text of flags.ask) failed = !(await answer(text)) || failed;
      return failed ? EXIT.failure : EXIT.ok;
    }
    io.err(
      `${c.dim(`${place.about}. ${flags.allowWrites ? "The agent may change it" : "The agent only looks"}. An empty line or Ctrl-D ends the talk.`)}\n`,
    );
    const reader = createInterface({ input: io.input ?? process.stdin });
    try {
      const lines = reader[Symbol.asyncIterator]();
      for (;;) {
        io.err("> ");
        const next = await Promise.race([lines.next(), left]);
        const text = next === undefined || next.done ? "" : next.value.trim();
        if (text === "") return EXIT.ok;
        await answer(text);
      }
    } finally {
      // An input that is still read keeps the process alive.
      reader.close();
    }
  } finally {
    stopListening();
    await chat.end();
    await place.stop();
  }
}

async function openScenario(flags: ChatFlags): Promise<Place> {
  const { scenario } = findScenario(flags.scenario!);
  const { environment, namespaces, application } = await createSimulated(scenario, flags.seed);
  try {
    await environment.start();
    if (flags.inject) {
      await environment.inject(scenario.disruptions);
      await environment.waitForAlerts([], ALERT_TIMEOUT);
    }
  } catch (error) {
    await environment.stop();
    throw error;
  }
  const endpoints = environment.endpoints(flags.allowWrites ? "read-write" : "read-only");
  return {
    context: { endpoints, clock: environment.clock, namespaces },
    ...(application === undefined ? {} : { application }),
    without: [],
    about: `Simulated environment of ${scenario.id}${flags.inject ? ", with its fault" : ", healthy"}`,
    stop: () => environment.stop(),
  };
}

/** A cluster behind a kubeconfig, with the telemetry that the user names. */
async function openCluster(flags: ChatFlags): Promise<Place> {
  const kubeconfig = flags.kubeconfig!;
  if (!existsSync(kubeconfig)) throw new UsageError(`--kubeconfig: there is no file ${kubeconfig}`);
  const tools: [keyof ChatFlags, string][] = [
    ["prometheus", "nl2metrics"],
    ["alertmanager", "nl2alerts"],
    ["loki", "nl2logs"],
    ["jaeger", "nl2traces"],
  ];
  const url = (name: keyof ChatFlags) => ((flags[name] as string | undefined) ?? "").replace(/\/+$/, "");
  return {
    context: {
      endpoints: {
        kubeconfig,
        prometheus: url("prometheus"),
        alertmanager: url("alertmanager"),
        loki: url("loki"),
        jaeger: url("jaeger"),
        ...(flags.opencost === undefined ? {} : { opencost: url("opencost") }),
      },
      clock: { now: () => Date.now(), sleep: (seconds, signal) => sleep(seconds * 1000, signal) },
      namespaces: flags.namespace ?? ["default"],
    },
    without: tools.filter(([name]) => url(name) === "").map(([, tool]) => tool),
    about: `Cluster of ${kubeconfig}`,
    stop: async () => {},
  };
}
