/** What a container's command does: run the image's own program, one of a few shell commands, or nothing at all. */
import type { Program } from "./behaviour.js";

export type Meaning =
  | { kind: "program"; args: readonly string[] }
  /** Runs on, doing nothing; or ends by itself after `afterMs`. */
  | { kind: "idle"; afterMs?: number; code?: number; output?: string }
  /** Waits until host:port answers, then ends well. */
  | { kind: "wait"; host: string; port: number; waiting: string; everyMs: number }
  /** Copies a file, and may print it. */
  | { kind: "copy"; from: string; to: string; print: boolean }
  /** The executable is not there. */
  | { kind: "missing"; executable: string };

const SHELLS = /^(\/bin\/|\/usr\/bin\/)?(ba|da|a)?sh$/;
/** Tools of an image with a shell. */
const TOOLS = new Set([
  "sleep",
  "true",
  "false",
  "echo",
  "cat",
  "ls",
  "env",
  "printenv",
  "tail",
  "date",
  "id",
  "hostname",
  "nc",
  "wget",
]);

/**
 * @param command the container's `command` (undefined: the image's own entry point) and `args`
 * @param program what the image runs, where it is known
 * @param declared commands that the application's manifests give to this image
 * @param shell whether the image has a shell
 */
export function commandMeaning(
  command: readonly string[] | undefined,
  args: readonly string[],
  program: Program | undefined,
  declared: readonly string[][],
  shell: boolean,
): Meaning {
  if (command === undefined || command.length === 0) return { kind: "program", args };
  const executable = command[0]!;
  const rest = [...command.slice(1), ...args];
  const entry = [...(program?.entrypoint ?? []), ...declared.map((line) => line[0]!)];
  const base = executable.slice(executable.lastIndexOf("/") + 1);
  if (SHELLS.test(executable)) {
    if (!shell) return { kind: "missing", executable };
    return rest[0] === "-c" ? script(rest[1] ?? "", entry) : { kind: "idle", afterMs: 0, code: 0 };
  }
  if (entry.includes(executable)) return { kind: "program", args: rest };
  if (shell && TOOLS.has(base)) return script([base, ...rest].join(" "), entry);
  return { kind: "missing", executable };
}

/** Reads a shell script as far as manifests use it: wait loops, copies, sleep, exit, and starting the program. */
function script(text: string, entry: readonly string[]): Meaning {
  const wait = /\b(?:until|while\s+!)\s+nc\s+((?:-\S+\s+)*)(\S+?)[\s:]+(\d+)\b/.exec(text);
  if (wait) {
    const every = /\bsleep\s+([\d.]+)/.exec(text.slice(wait.index));
    const waiting = /\becho\s+"?([^;"]+)"?/.exec(text.slice(wait.index));
    return {
      kind: "wait",
      host: wait[2]!,
      port: Number(wait[3]),
      waiting: waiting?.[1]?.trim() ?? "",
      everyMs: Math.max(1, Number(every?.[1] ?? 1)) * 1000,
    };
  }
  const copy = /^\s*cp\s+(\S+)\s+([^\s;&]+)/.exec(text);
  if (copy) return { kind: "copy", from: copy[1]!, to: copy[2]!, print: /&&\s*cat\s/.test(text) };
  const exit = /(?:^|[;&\n]\s*)exit\s+(\d+)/.exec(text);
  const sleep = /\bsleep\s+(\d+|infinity)/.exec(text);
  const forever = /\bsleep\s+infinity|\btail\s+-f|while\s+(true|:)\s*;/.test(text);
  const afterMs = sleep && sleep[1] !== "infinity" ? Number(sleep[1]) * 1000 : 0;
  const said = /^\s*echo\s+"?([^;"&]+)"?/.exec(text)?.[1]?.trim();
  const output = said === undefined ? {} : { output: said };
  if (exit) return { kind: "idle", afterMs, code: Number(exit[1]), ...output };
  const words = text
    .replace(/^.*[;&]\s*/s, "")
    .replace(/^exec\s+/, "")
    .trim()
    .split(/\s+/);
  if (words[0] !== undefined && entry.includes(words[0])) return { kind: "program", args: words.slice(1) };
  if (forever) return { kind: "idle", ...output };
  const first = text.trim().split(/\s+/)[0] ?? "";
  if (first === "false") return { kind: "idle", afterMs: 0, code: 1 };
  if (sleep || TOOLS.has(first) || first === ":" || first === "") return { kind: "idle", afterMs, code: 0, ...output };
  return { kind: "idle", afterMs: 0, code: 127, output: `sh: ${first}: not found` };
}
