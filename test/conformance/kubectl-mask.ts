/** Hides what must differ between two runs: ages, times, uids, hashes, addresses, random ports, the order of equal events. */
import type { Answer } from "./kubectl-cluster.js";

const SAFE = "bcdfghjklmnpqrstvwxz2456789";
const AGE = "(?:(?:\\d+[dhms]){1,2}|<unknown>|<invalid>)";
const RULES: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [
    /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}(?: UTC)?/g,
    "<time>",
  ],
  [/(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [new RegExp(`-[${SAFE}]{8,10}-[${SAFE}]{5}\\b`, "g"), "-<hash>-<id>"],
  [new RegExp(`(pod-template-hash\\W+)[${SAFE}]{8,10}`, "g"), "$1<hash>"],
  [new RegExp(`-[${SAFE}]{8,10}\\b`, "g"), "-<hash>"],
  [new RegExp(`-[${SAFE}]{5}\\b`, "g"), "-<id>"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b(?:\/\d+)?/g, "<ip>"],
  [/(Invalid value: "(?:\{|map\[)).*/g, "$1<object>"],
  [/(resourceVersion\W+|Resource Version: +|current: )\d+/g, "$1<rv>"],
  [/(kubernetes\.io\/revision\W+)\d+/g, "$1<revision>"],
  [/(nodePort\W+|:)3\d{4}\b/g, "$1<port>"],
  [/\bnode-[0-9]\b/g, "node-<n>"],
  [/v0\.0\.0-master\+\$Format:%H\$/g, "v1.34.2"],
  [new RegExp(`${AGE}(?: \\(x\\d+ over ${AGE}\\))?( ago)`, "g"), "<age>"],
  [/127\.0\.0\.1:\d+|<ip>:\d{5}/g, "<server>"],
];

function maskText(text: string): string {
  let out = text;
  for (const [pattern, replacement] of RULES) out = out.replace(pattern, replacement);
  return out;
}

/** Ages stand alone in a cell of a table; their width moves the other cells. */
function tableLine(line: string): string {
  return line
    .trimEnd()
    .replace(/ {2,}/g, "  ")
    .replace(new RegExp(`(^|  )${AGE}(?: \\(x\\d+ over ${AGE}\\))?(?=  |$)`, "g"), "$1<age>");
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
  let lines = maskText(answer.stdout).split("\n");
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
  const errors = maskText(answer.stderr)
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
