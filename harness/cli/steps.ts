/** Shows an agent's steps as they happen, from the events of its transcript. */
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

const SHORT_LINES = 6;

export function stepPrinter(view: StepView): TranscriptSink {
  const prefix = view.prefix ?? "";
  const say = (text: string) => view.write(text.replace(/^/gm, prefix));
  return {
    write: (event) => {
      const text = eventText(event, view);
      if (text !== undefined) say(text);
    },
  };
}

function eventText(event: RecordedEvent, { colors: c, columns, full }: StepView): string | undefined {
  switch (event.event) {
    case "step": {
      const thought = event.text.trim();
      const calls = event.calls.map((call) => `  ${c.cyan(call.tool)} ${clip(argumentText(call.args), columns - 20)}`);
      const head = `${c.bold(`${event.step}.`)}${thought ? ` ${clip(thought.split("\n")[0]!, columns - 8)}` : ""}`;
      return [head, ...calls].join("\n");
    }
    case "lint":
      return c.yellow(`  lint: ${event.findings.join("; ")}`);
    case "reflection":
      return c.yellow(`  reflects on ${event.cause === "lint" ? "a lint finding" : "an error"}`);
    case "execute":
      return c.dim(`  $ ${clip(event.command, columns - 6)}`);
    case "observation":
      return excerpt(event.content, columns, full)
        .map((line) => (event.ok ? c.dim(`    ${line}`) : c.red(`    ${line}`)))
        .join("\n");
    case "not_understood":
      return c.yellow(`  not understood: ${event.reason}`);
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
    if (entries.length === 1 && texts.length === 1) return texts[0]!;
  }
  return JSON.stringify(args);
}

function excerpt(content: string, columns: number, full: boolean): string[] {
  const lines = content.trimEnd().split("\n");
  if (full) return lines;
  const shown = lines.slice(0, SHORT_LINES).map((line) => clip(line, columns - 6));
  const more = lines.length - SHORT_LINES;
  return more > 0 ? [...shown, `(${more} more ${more === 1 ? "line" : "lines"})`] : shown;
}

function clip(text: string, room: number): string {
  const width = Math.max(20, room);
  const flat = text.replace(/\s*\n\s*/g, " ");
  return [...flat].length > width ? `${[...flat].slice(0, width - 1).join("")}…` : flat;
}
