import { describe, expect, it } from "vitest";
import { colorsFor, type Io } from "../../../harness/cli/io.js";
import { createProgress, duration } from "../../../harness/cli/progress.js";
import { scenarioTable } from "../../../harness/cli/report.js";
import { stepPrinter } from "../../../harness/cli/steps.js";
import { renderTable, visibleWidth, wrap } from "../../../harness/cli/table.js";
import type { TrialRecord } from "../../../harness/run/index.js";

function terminal(tty: boolean): { io: Io; text(): string } {
  let err = "";
  const io: Io = {
    out: () => {},
    err: (text) => {
      err += text;
    },
    env: {},
    outIsTty: tty,
    errIsTty: tty,
    columns: 80,
    onInterrupt: () => () => {},
    exit: () => {
      throw new Error("exit");
    },
  };
  return { io, text: () => err };
}

describe("tables", () => {
  it("align by what is seen, colours aside", () => {
    const { io } = terminal(true);
    const c = colorsFor(io);
    const table = renderTable(
      [{ title: "A" }, { title: "N", align: "right" }],
      [
        [c.red("x"), "1"],
        ["long", "20"],
      ],
    );
    const widths = table.trimEnd().split("\n").map(visibleWidth);
    expect(new Set(widths).size).toBe(1);
    expect(table.split("\n")[2]).toBe("long  20");
  });
  it("folds at blanks", () => {
    expect(wrap("one two three four five six seven", 20, "  ")).toBe("  one two three four\n  five six seven");
  });
});

it("scenarios are summed up one a row", () => {
  const record = (name: string, passed: 0 | 1) =>
    ({
      scenario: name,
      diagnosis: 1,
      mitigation: passed,
      resolved: passed,
      false_alarm: null,
      reason: null,
      details: { diagnosis: { root_cause_entity: { f1: 1 } } },
      effort: { steps: 4, input_tokens: 0, output_tokens: 0, virtual_seconds: 0, wall_seconds: 0, cost: 0 },
    }) as unknown as TrialRecord;
  const table = scenarioTable([record("sre-2", 1), record("sre-2", 0), record("sre-20", 1), record("sre-20", 1)]);
  const lines = table.trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^sre-2 +2\/2 +1\/2 +1\/2 +50\.0 % {2}\[9\.5 %, 90\.5 %\] +4$/);
  expect(lines[2]).toMatch(/^sre-20 +2\/2 +2\/2 +2\/2 +100\.0 % {2}\[34\.2 %, 100\.0 %\] +4$/);
});

it.each([
  [0.84, "0.8 s"],
  [42.4, "42 s"],
  [200, "3 min 20 s"],
  [7500, "2 h 5 min"],
])("%d seconds are %s", (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

describe("progress", () => {
  const record = {
    scenario: "sre-1",
    trial: 1,
    diagnosis: 1,
    mitigation: 0,
    resolved: 0,
    reason: "limit-steps",
    reason_detail: "20 steps",
    effort: { wall_seconds: 1.5 },
    warnings: ["odd"],
  } as unknown as TrialRecord;
  it("is a line a trial where there is no terminal", () => {
    const { io, text } = terminal(false);
    const { observer, end } = createProgress(io, { verbose: false, bar: true });
    observer.planned?.(3, 1);
    observer.trialFinished?.(record);
    end();
    expect(text()).toMatch(
      /^1 of 3 trials are there already\n\[2\/3\] sre-1 #1 {2}diagnosis yes {2}mitigation no {2}limit-steps/,
    );
    expect(text()).toMatch(/ left\n {2}20 steps\n$/);
    expect(text()).not.toContain("\r");
    expect(text()).not.toContain("odd");
  });
  it("is a bar on a terminal, gone at the end", () => {
    const { io, text } = terminal(true);
    const { observer, end } = createProgress(io, { verbose: true, bar: true });
    observer.planned?.(2, 0);
    observer.trialFinished?.(record);
    end();
    expect(text()).toContain("░");
    expect(text()).toContain("1/2");
    expect(text()).toContain("odd");
    expect(text().endsWith("\r\u001b[K")).toBe(true);
  });
});

it("steps are shown in short, or in full", () => {
  const show = (full: boolean) => {
    let text = "";
    const colors = colorsFor(terminal(false).io);
    const sink = stepPrinter({ write: (line) => (text += `${line}\n`), colors, columns: 60, full, prefix: "| " });
    const at = { seq: 1, time: { virtual: "", wall_ms: 0 } };
    const tokens = { input: 0, output: 0, cached: 0 };
    const args = { question: "kubectl get pods" };
    sink.write({ ...at, event: "step", step: 1, text: "look\nmore", calls: [], tokens });
    sink.write({ ...at, event: "tool_call", step: 1, id: "1", tool: "nl2kubectl", args });
    for (const command of ["kubectl get pods", "kubectl get pods -A"]) {
      sink.write({ ...at, event: "execute", id: "1", tool: "nl2kubectl", attempt: 1, command });
    }
    const content = Array.from({ length: 9 }, (_, line) => `line ${line}\u001b[2J\u0007`).join("\n");
    sink.write({ ...at, event: "observation", step: 1, id: "1", tool: "t", ok: true, content, bytes: 9, cut: false });
    sink.write({ ...at, event: "usage", usage: {} as never });
    return text;
  };
  expect(show(false)).toMatch(/^\| 1\. look\n\| {3}nl2kubectl kubectl get pods\n\| {3}\$ kubectl get pods -A\n/);
  expect(show(false)).toContain("(4 more lines)");
  expect(show(true)).toContain("line 8\n");
});
