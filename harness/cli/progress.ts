/** Progress of a run on stderr: a bar that is redrawn on a terminal, a line for each trial elsewhere. */
import type { RunObserver, TrialPhase, TrialRecord } from "../run/index.js";
import { colorsFor, type Io } from "./io.js";

export interface Progress {
  observer: RunObserver;
  /** Prints above the bar. */
  note(text: string): void;
  /** Takes the bar away. */
  end(): void;
}

export function createProgress(io: Io, options: { verbose: boolean; bar: boolean }): Progress {
  const c = colorsFor(io, io.errIsTty);
  const bar = options.bar && io.errIsTty;
  let total = 0;
  let done = 0;
  let fresh = 0;
  let passed = 0;
  const began = performance.now();
  const clear = () => {
    if (bar) io.err("\r\u001b[K");
  };
  const draw = () => {
    if (!bar || total === 0) return;
    const width = Math.max(10, Math.min(30, io.columns - 60));
    const filled = Math.round((done / total) * width);
    const eta = remaining();
    const text = `${"█".repeat(filled)}${"░".repeat(width - filled)} ${done}/${total}  resolved ${passed}`;
    io.err(`\r\u001b[K${text}${eta ? `  ${eta} left` : ""}`);
  };
  const remaining = () => {
    if (fresh === 0 || done >= total) return "";
    return duration(((performance.now() - began) / 1000 / fresh) * (total - done));
  };
  const note = (text: string) => {
    clear();
    io.err(`${text}\n`);
    draw();
  };
  const verdict = (record: TrialRecord) => {
    const mark = (label: string, value: 0 | 1 | null) =>
      value === null ? c.dim(`${label} -`) : value === 1 ? c.green(`${label} yes`) : c.red(`${label} no`);
    const reason = record.reason ? c.yellow(`  ${record.reason}`) : "";
    const marks =
      record.false_alarm === 0 || record.false_alarm === 1
        ? record.false_alarm === 1
          ? c.red("false alarm")
          : c.green("no false alarm")
        : [mark("diagnosis", record.diagnosis), mark("mitigation", record.mitigation)].join("  ");
    return `${record.scenario} #${record.trial}  ${marks}${reason}`;
  };
  return {
    note,
    end: clear,
    observer: {
      planned: (all, stored) => {
        total = all;
        done = stored;
        if (stored > 0) note(`${stored} of ${all} trials are there already`);
        draw();
      },
      trialStarted: (scenario, trial) => {
        if (options.verbose) note(c.dim(`${scenario} #${trial}  started`));
      },
      trialPhase: (scenario, trial, phase) => {
        if (options.verbose) note(c.dim(`${scenario} #${trial}  ${phaseText(phase)}`));
      },
      trialRetried: (scenario, trial, error) =>
        note(c.yellow(`${scenario} #${trial}  environment failed, trying again: ${error.message}`)),
      trialFinished: (record) => {
        done++;
        fresh++;
        if (record.false_alarm !== 0 && record.false_alarm !== 1) passed += record.resolved;
        const eta = remaining();
        const count = bar ? "" : `[${done}/${total}] `;
        note(
          `${count}${verdict(record)}  ${duration(record.effort.wall_seconds)}${!bar && eta ? `  ${eta} left` : ""}`,
        );
        if (record.reason_detail) note(c.dim(`  ${record.reason_detail}`));
        if (options.verbose) for (const warning of record.warnings) note(c.yellow(`  warning: ${warning}`));
      },
    },
  };
}

export function phaseText(phase: TrialPhase): string {
  switch (phase.phase) {
    case "starting":
      return "environment starting";
    case "injected":
      return `injected ${phase.faults.join(", ")}`;
    case "alerts":
      return `alerts: ${[...new Set(phase.firing.map((alert) => alert.name))].join(", ")}`;
    case "attempt":
      return `attempt ${phase.attempt} of ${phase.of}`;
    case "attempted":
      return phase.verified
        ? `attempt ${phase.attempt}: verified`
        : `attempt ${phase.attempt}: ${phase.problems.join("; ")}`;
    case "task":
      return `${phase.task} begins`;
    case "diagnosed":
    case "mitigated":
      return `${phase.phase}: ${phase.outcome.status}${phase.outcome.detail ? ` (${phase.outcome.detail})` : ""}`;
    case "verified":
      return phase.cleared ? "no alert fires" : "alerts still fire";
    case "scored":
      return "scored";
  }
}

/** `0.8 s`, `42 s`, `3 min 20 s`, `2 h 5 min` */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
