/** Hides what must differ between two runs: ages, times, uids, hashes, addresses, random ports, the order of equal events. */
import type { Answer } from "./kubectl-cluster.js";
import { AGE, maskText, OVER } from "./masks.js";

/** Besides what is masked in any comparison: the server's own port. */
function maskServer(text: string): string {
  return maskText(text).replace(/<ip>:(?:\d{5}|<port>)/g, "<server>");
}

/** Ages stand alone in a cell of a table; their width moves the other cells. */
function tableLine(line: string): string {
  return line
    .trimEnd()
    .replace(/ {2,}/g, "  ")
    .replace(new RegExp(`(^|  )${AGE}${OVER}(?=  |$)`, "g"), "$1<age>");
}

/** In a description only events and the pods of a node have ages; all else stands as it is. */
function description(lines: string[]): string[] {
  let table = false;
  return lines.map((line) => {
    if (/^(Events|Non-terminated Pods):/.test(line)) table = true;
    else if (/^\S/.test(line)) table = false;
    return table ? tableLine(line) : line;
  });
}

/**
 * @param exact the two answers come from one server at one instant: tables must be aligned alike
 */
export function maskAnswer(line: string, answer: Answer, exact = false): Answer {
  const describes = /^describe/.test(line);
  const yaml = /-o[ =]?(yaml|json)|--output=(yaml|json)|--raw/.test(line);
  let lines = maskServer(answer.stdout).split("\n");
  if (yaml) lines = lines.filter((l) => !/resourceVersion"?:|revision"?:|nodePort"?:|"?uid"?:/.test(l));
  else if (exact && describes) lines = description(lines);
  else if (exact && !/^events/.test(line)) lines = answer.stdout.replaceAll("-dispatcher", "").split("\n");
  else lines = lines.map(tableLine).filter((l) => !/^\s*t-\S+\s+Active/.test(l));
  if (!exact && /^describe (deploy|rs|no)/.test(line))
    lines = lines.filter((l) => !/ {2}(Scaled (up|down)|Created pod|Deleted pod)/.test(l));
  if (/^rollout status/.test(line)) lines = lines.filter(Boolean).slice(-1);
  if (/events/.test(line.replace("--show-events", "")) || /^describe (cm|secret|limits|ns)/.test(line))
    lines = [...new Set(lines)].sort();
  // kubectl goes over several containers, and over an object's labels, in no order.
  if (/^logs .*(-l|--selector|--all-)|^label .*--list/.test(line)) lines.sort();
  // Replica sets stand in the order of their hashes, which follow the time of a restart.
  if (!exact && /^get (all|rs)/.test(line)) lines.sort();
  const errors = maskServer(answer.stderr)
    // A missing flag comes out of kubectl as a line of its log.
    .replace(/^E\d{4} .*"command failed" err="(.*)"$/gm, (_, text: string) => `error: ${text.replace(/\\"/g, '"')}`)
    .replace(/(converting YAML to JSON: yaml: ).*/s, "$1<why>")
    .split("\n")
    .filter((l) => !l.startsWith("Warning: v1 Endpoints") && !/^[EIW]\d{4} /.test(l));
  // Which pods are on a node, and in what order a drain goes over them and over what is in its way, is left open.
  if (/^drain/.test(line)) {
    lines = lines.filter((l) => !/evict/.test(l));
    errors.splice(0, errors.length, ...errors.filter((l) => !/cannot delete/.test(l)));
  }
  return { code: answer.code, stdout: lines.join("\n"), stderr: errors.join("\n").trim() };
}
