/** Broken queries with the place of their fault between « and ». */
import { readFileSync } from "node:fs";
import type { Finding } from "../../../tools/lint/finding.js";

export interface Broken {
  query: string;
  start: number;
  end: number;
}

export function brokenQueries(file: string): Broken[] {
  return readFileSync(new URL(file, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map(marked);
}

export function marked(line: string): Broken {
  const start = line.indexOf("«");
  const end = line.indexOf("»") - 1;
  if (start < 0 || end < start) throw new Error(`no place is marked in: ${line}`);
  return { query: line.replace(/[«»]/g, ""), start, end };
}

/** What a linter says of a broken query: nothing, something else, or the fault at its place. */
export function verdict({ start, end }: Broken, findings: readonly Finding[]): "missed" | "misplaced" | "caught" {
  if (findings.length === 0) return "missed";
  const hit = findings.some(
    (one) => one.start !== undefined && one.start <= end && one.start + Math.max(1, one.word.length) > start - 1,
  );
  return hit ? "caught" : "misplaced";
}

/** A line for each query that was not caught, and the share that was. */
export function tally(all: readonly { broken: Broken; findings: Finding[] }[]): { share: number; rest: string[] } {
  const rest = all
    .filter(({ broken, findings }) => verdict(broken, findings) !== "caught")
    .map(({ broken, findings }) => {
      const said = findings.map(({ message, word, start }) => `${message} [${word} @${start}]`).join("; ");
      return `${verdict(broken, findings)}: ${broken.query}   ${said}`;
    });
  return { share: 1 - rest.length / all.length, rest };
}
