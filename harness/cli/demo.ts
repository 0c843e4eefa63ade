/** `itbench demo`: one incident from beginning to end, for a reader. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_AGENT_OPTIONS, DEFAULT_LIMITS, type Outcome } from "../../agents/agent.js";
import type { SreDiagnosis, SreMitigation } from "../../agents/sre/output.js";
import { resolveModel } from "../../models/index.js";
import { agentFor } from "../run/agents.js";
import { createSimulated } from "../run/environments.js";
import { executeRun, RunStore, scenarioHash, type TrialPhase, type TrialRecord } from "../run/index.js";
import { findScenario } from "../scenario/index.js";
import { DEFAULT_VERIFICATION } from "../score/index.js";
import { EXIT } from "./errors.js";
import { type Colors, colorsFor, type Io } from "./io.js";
import { duration } from "./progress.js";
import { checksText, yesNo } from "./report.js";
import { stepPrinter } from "./steps.js";
import { renderTable, wrap } from "./table.js";

export interface DemoFlags {
  scenario: string;
  seed: string;
  full?: boolean;
}

/** Exit code 0 when the trial ran, whatever it scored. */
export async function demoCommand(flags: DemoFlags, io: Io): Promise<number> {
  const { scenario } = findScenario(flags.scenario);
  const c = colorsFor(io);
  const width = Math.min(io.columns, 110);
  const head = (text: string) => io.out(`\n${c.bold(text)}\n`);
  io.out(`${c.bold(scenario.id)}  ${scenario.title ?? ""}\n${wrap(scenario.description, width)}\n\n`);
  io.out(
    `${wrap("The cluster, its application and its telemetry are simulated inside this process. The model is `playbook`: rules written by hand, not an LLM; it sees only what its tools return.", width)}\n`,
  );

  const folder = mkdtempSync(join(tmpdir(), "itbench-demo-"));
  const abort = new AbortController();
  const stopListening = io.onInterrupt(() => {
    if (abort.signal.aborted) io.exit(EXIT.interrupted);
    abort.abort(new Error("interrupted"));
  });
  try {
    const records = await executeRun({
      scenarios: [scenario],
      configuration: {
        scenarios: [{ id: scenario.id, hash: scenarioHash(scenario) }],
        model: "playbook",
        protocol: "tool-calling",
        trials: 1,
        seed: flags.seed,
        step_seconds: 10,
        alert_timeout_seconds: 900,
        verification: DEFAULT_VERIFICATION,
        limits: DEFAULT_LIMITS,
        options: DEFAULT_AGENT_OPTIONS,
      },
      store: new RunStore(folder),
      createEnvironment: createSimulated,
      agentFor,
      createModel: () => resolveModel("playbook"),
      signal: abort.signal,
      observer: {
        trialPhase: (_scenario, _trial, phase) => tell(phase, io, c, head),
        transcript: () =>
          stepPrinter({ write: (text) => io.out(`${text}\n`), colors: c, columns: width, full: flags.full === true }),
      },
    });
    const record = records[0];
    if (abort.signal.aborted || !record) return EXIT.interrupted;
    if (record.reason !== "environment-error") return EXIT.ok;
    io.err(`itbench: the environment failed: ${record.reason_detail}\n`);
    return EXIT.failure;
  } finally {
    stopListening();
    rmSync(folder, { recursive: true, force: true });
  }
}

function tell(phase: TrialPhase, io: Io, c: Colors, head: (text: string) => void): void {
  const clock = (at: number) => c.dim(`${new Date(at).toISOString().slice(11, 19)} `);
  switch (phase.phase) {
    case "injected":
      io.out(`\n${clock(phase.at)}injected: ${phase.faults.join(", ")}\n`);
      return;
    case "alerts":
      head("Alerts");
      for (const alert of phase.firing) {
        const { alertname: _, severity, ...labels } = alert.labels;
        const where = ["service_name", "pod", "deployment", "consumergroup", "namespace"].find((key) => labels[key]);
        const subject = where ? ` ${labels[where]}` : "";
        const note = alert.annotations.description ?? alert.annotations.summary ?? "";
        io.out(`${clock(alert.firedAt ?? phase.at)}${c.red(alert.name)}${subject} ${c.dim(severity ?? "")}  ${note}\n`);
      }
      return;
    case "task":
      head(phase.task === "diagnosis" ? "Diagnosis, step by step" : "Mitigation, step by step");
      return;
    case "diagnosed":
      head("Diagnosis");
      diagnosisText(phase.outcome, io, c);
      return;
    case "mitigated":
      head("Mitigation");
      mitigationText(phase.outcome, io, c);
      return;
    case "scored":
      head("Scores");
      scoresText(phase.record, io, c);
      return;
    default:
  }
}

function diagnosisText({ status, detail, output }: Outcome<SreDiagnosis>, io: Io, c: Colors): void {
  if (!output) {
    io.out(`  no answer: ${status}${detail ? ` (${detail})` : ""}\n`);
    return;
  }
  if (output.summary) io.out(`${wrap(output.summary, Math.min(io.columns, 110), "  ")}\n`);
  for (const entity of output.entities) {
    const sign = entity.contributing_factor ? c.red("root cause ") : c.dim("affected   ");
    io.out(`  ${sign} ${entity.name}\n`);
    if (entity.contributing_factor) io.out(`${c.dim(wrap(entity.reasoning, Math.min(io.columns, 110), "    "))}\n`);
  }
}

function mitigationText({ status, detail, output }: Outcome<SreMitigation>, io: Io, c: Colors): void {
  if (!output) {
    io.out(`  no answer: ${status}${detail ? ` (${detail})` : ""}\n`);
    return;
  }
  if (output.actions.length === 0) io.out("  nothing was changed\n");
  for (const action of output.actions) io.out(`  ${c.cyan(action.command)}\n    ${action.result.split("\n")[0]}\n`);
  io.out(`  ${output.verified ? "verified by the agent" : "not verified by the agent"}\n`);
}

function scoresText(record: TrialRecord, io: Io, c: Colors): void {
  const { effort } = record;
  if (record.reason) io.out(`  ${c.yellow(record.reason)}${record.reason_detail ? `: ${record.reason_detail}` : ""}\n`);
  io.out(checksText(record, c));
  io.out("\n");
  const columns = ["DIAGNOSIS", "MITIGATION", "RESOLVED", "STEPS", "VIRTUAL", "WALL"].map((title) => ({ title }));
  const row = [
    yesNo(record.diagnosis, c),
    yesNo(record.mitigation, c),
    yesNo(record.resolved, c),
    String(effort.steps),
    duration(effort.virtual_seconds),
    duration(effort.wall_seconds),
  ];
  io.out(renderTable(columns, [row], "  "));
}
