/** Shows an agent's steps as they happen, from the events of its transcript. */
import { stripVTControlCharacters } from "node:util";
import type { RecordedEvent, TranscriptSink } from "../../agents/react/transcript.js";
import type { Colors } from "./io.js";

export interface StepView {
  write(text: string): void;
  colors: Colors;
  columns: number;
  /** Observations in full instead of their first lines. */
  full: boolean;
  /** Put before each line: which trial speaks. */
  prefix?: string;
}

const SHORT_LINES = 5;

export function stepPrinter(view: StepView): TranscriptSink {
  const prefix = view.prefix ?? "";
  let asked = "";
  return {
    write: (event) => {
      const text = eventText(event, view, asked);
      if (text !== undefined) view.write(text.replace(/^/gm, prefix));
      if (event.event === "tool_call") asked = argumentText(event.args);
    },
  };
}

/** @param asked what the tool was last called with: a tool that runs just that need not say it again */
function eventText(event: RecordedEvent, { colors: c, columns, full }: StepView, asked: string): string | undefined {
  switch (event.event) {
    case "step": {
      const thought = event.text.trim().split("\n")[0]!;
      return `${c.bold(`${event.step}.`)}${thought ? ` ${clip(thought, columns - 8)}` : ""}`;
    }
    case "tool_call": {
      const args = argumentText(event.args);
      return `  ${c.cyan(event.tool)} ${full ? args : clip(args, columns - event.tool.length - 4)}`.trimEnd();
    }
    case "lint":
      return c.yellow(`  lint: ${event.findings.join("; ")}`);
    case "reflection":
      return c.yellow(`  reflects on ${event.cause === "lint" ? "a lint finding" : "an error"}`);
    case "execute":
      return event.command === asked ? undefined : c.dim(`  $ ${clip(event.command, columns - 6)}`);
    case "observation":
      return excerpt(event.content, columns, full)
        .map((line) => (event.ok ? c.dim(`    ${line}`) : c.red(`    ${line}`)))
        .join("\n");
    case "not_understood":
      return c.yellow(`  not understood: ${event.reason}`);
    case "attempt":
      return c.bold(`Attempt ${event.attempt} of ${event.of}`);
    case "attempt_result": {
      const verdict = event.verified ? c.green("verified") : c.yellow(`not verified: ${event.problems.join("; ")}`);
      const lines = (event.note ?? "").split("\n").filter((line) => line.trim() !== "");
      const note = full ? lines.map(printable) : lines.slice(0, SHORT_LINES).map((line) => clip(line, columns - 6));
      return [`Attempt ${event.attempt} ${verdict}`, ...note.map((line) => c.dim(`    ${line}`))].join("\n");
    }
    case "runbooks":
      return c.dim(
        `  found in runbooks: ${event.found.map(({ source, heading }) => `${source} (${heading})`).join(", ")}`,
      );
    case "limit":
      return c.yellow(`  limit reached: ${event.detail}`);
    default:
      return undefined;
  }
}

function argumentText(args: unknown): string {
  if (args !== null && typeof args === "object" && !Array.isArray(args)) {
    const entries = Object.entries(args);
    const texts = entries.map(([, value]) => value).filter((value) => typeof value === "string");
    if (entries.length === 0) return "";
    if (entries.length === 1 && texts.length === 1) return texts[0]!;
  }
  return JSON.stringify(args);
}

function excerpt(content: string, columns: number, full: boolean): string[] {
  const lines = printable(content).trimEnd().split("\n");
  if (full) return lines;
  const shown = lines.slice(0, SHORT_LINES).map((line) => clip(line, columns - 6));
  const more = lines.length - SHORT_LINES;
  return more > 0 ? [...shown, `(${more} more ${more === 1 ? "line" : "lines"})`] : shown;
}

function clip(text: string, room: number): string {
  const width = Math.max(20, room);
  const flat = printable(text).replace(/\s*\n\s*/g, " ");
  return [...flat].length > width ? `${[...flat].slice(0, width - 1).join("")}…` : flat;
}

/** Without control characters: a log line must not move the reader's cursor. */
function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}/gu, (character) =>
    character === "\n" || character === "\t" ? character : "",
  );
}
