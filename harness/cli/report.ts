/** The results of a run as text. */
import { type Summary, summarize, type TrialRecord } from "../run/index.js";
import type { Rate } from "../stats/index.js";
import type { Colors } from "./io.js";
import { type Column, renderTable } from "./table.js";

/**
 * One row a trial. What was said of a healthy twin stands in a column of its own, and attempts in another, where there
 * are any of them.
 */
export function trialTable(records: readonly TrialRecord[], c: Colors): string {
  const twins = records.some((record) => !hasFault(record));
  const several = records.some((record) => record.attempts > 1);
  const left = (title: string): Column => ({ title });
  const right = (title: string): Column => ({ title, align: "right" });
  const columns = [
    left("SCENARIO"),
    right("TRIAL"),
    ...["DIAGNOSIS", "MITIGATION", "RESOLVED"].map(left),
    ...(twins ? [left("FALSE ALARM")] : []),
    ...(several ? [right("ATTEMPTS")] : []),
    ...["STEPS", "TOKENS", "VIRTUAL S", "WALL S"].map(right),
    left("NOTE"),
  ];
  const rows = records.map((record) => [
    record.scenario,
    String(record.trial),
    yesNo(hasFault(record) ? record.diagnosis : null, c),
    yesNo(record.mitigation, c),
    yesNo(hasFault(record) ? record.resolved : null, c),
    ...(twins ? [alarmed(record, c)] : []),
    ...(several ? [String(record.attempts)] : []),
    String(record.effort.steps),
    count(record.effort.input_tokens + record.effort.output_tokens),
    String(Math.round(record.effort.virtual_seconds)),
    record.effort.wall_seconds.toFixed(1),
    record.reason ? c.yellow(record.reason) : "",
  ]);
  return renderTable(columns, rows);
}

function hasFault({ false_alarm }: TrialRecord): boolean {
  return (false_alarm ?? null) === null;
}

/** As `yesNo`, with the colours of an alarm: yes is bad. */
function alarmed({ false_alarm }: TrialRecord, c: Colors): string {
  return false_alarm === 1 ? c.red("yes") : false_alarm === 0 ? c.green("no") : c.dim("-");
}

/** One row a scenario, where a run has several trials of several. */
export function scenarioTable(records: readonly TrialRecord[]): string {
  const groups = new Map<string, TrialRecord[]>();
  for (const record of records) groups.set(record.scenario, [...(groups.get(record.scenario) ?? []), record]);
  const twins = records.some((record) => !hasFault(record));
  const rows = [...groups].map(([scenario, group]) => {
    const { diagnosis, mitigation, resolved, false_alarm, effort } = summarize(group);
    const share = (rate: Rate | null) => (rate === null ? "-" : `${rate.passed}/${rate.total}`);
    const interval =
      resolved === null ? "-" : `${percent(resolved.rate)}  [${percent(resolved.low)}, ${percent(resolved.high)}]`;
    return [
      scenario,
      share(diagnosis),
      share(mitigation),
      share(resolved),
      interval,
      ...(twins ? [share(false_alarm)] : []),
      number(effort.steps.quartiles[1]),
    ];
  });
  const titles = [
    ...["SCENARIO", "DIAGNOSIS", "MITIGATION", "RESOLVED", "RATE, 95 % INTERVAL"],
    ...(twins ? ["FALSE ALARMS"] : []),
    "STEPS, MEDIAN",
  ];
  const columns = titles.map((title, index) => ({ title, align: index === 0 ? "left" : "right" }) as Column);
  return renderTable(columns, rows);
}

/** Rates with their intervals, effort, and what went wrong. */
export function summaryText(
  summary: Summary,
  model: { name: string; provider: string; isLlm: boolean },
  c: Colors,
): string {
  const lines: string[] = [];
  const add = (label: string, text: string) => lines.push(`  ${label.padEnd(14)} ${text}`);
  const { effort } = summary;
  lines.push(
    `${c.bold("Summary")}: ${summary.trials} ${summary.trials === 1 ? "trial" : "trials"} of ` +
      `${summary.scenarios} ${summary.scenarios === 1 ? "scenario" : "scenarios"}, model ${model.name}` +
      `${model.isLlm ? "" : model.provider === "human" ? " (a person, not an LLM)" : " (rule-based, not an LLM)"}`,
  );
  if (summary.diagnosis) add("diagnosis", rateText(summary.diagnosis));
  if (summary.mitigation) add("mitigation", rateText(summary.mitigation));
  if (summary.resolved) add("resolved", rateText(summary.resolved));
  if (summary.false_alarm) add("false alarm", rateText(summary.false_alarm));
  if (effort.attempts.mean > 1) add("attempts", `mean ${effort.attempts.mean.toFixed(1)}`);
  add("steps", `median ${number(effort.steps.quartiles[1])}`);
  add("tokens", `median ${count(Math.round(effort.tokens.quartiles[1]))}`);
  add("virtual s", `median ${number(effort.virtual_seconds.quartiles[1])}`);
  add("wall s", `median ${effort.wall_seconds.quartiles[1].toFixed(1)}`);
  if (summary.cost !== null && summary.cost > 0) add("cost", `$${summary.cost.toFixed(4)}`);
  const reasons = Object.entries(summary.reasons);
  if (reasons.length > 0) add("not finished", reasons.map(([reason, times]) => `${times} ${reason}`).join(", "));
  lines.push(c.dim("  Rates count every trial, failed ones as 0; intervals are Wilson's, 95 %."));
  return `${lines.join("\n")}\n`;
}

/** Every check of a trial by name, with what it saw. */
export function checksText({ details }: TrialRecord, c: Colors): string {
  const rows = [
    [mark(details.diagnosis.value === 1, c), "diagnosis", details.diagnosis.why],
    ...(details.mitigation?.checks ?? []).map((check) => [mark(check.passed, c), check.name, check.saw]),
  ];
  return rows.map(([sign, name, saw]) => `  ${sign} ${name!.padEnd(18)} ${saw}\n`).join("");
}

function rateText({ passed, total, rate, low, high }: Rate): string {
  return `${percent(rate).padStart(7)}  ${passed}/${total}  [${percent(low)}, ${percent(high)}]`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

export function yesNo(value: 0 | 1 | null, c: Colors): string {
  if (value === null) return c.dim("-");
  return value === 1 ? c.green("yes") : c.red("no");
}

function mark(passed: boolean, c: Colors): string {
  return passed ? c.green("✓") : c.red("✗");
}

/** `12,345` */
function count(value: number): string {
  return value.toLocaleString("en-US");
}

function number(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
