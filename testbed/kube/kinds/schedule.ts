/** Is a cron schedule one, and if not, why: the words are those of the parser that a real server uses. */

interface Bounds {
  low: number;
  high: number;
  names?: string[];
}
const FIELDS: Bounds[] = [
  { low: 0, high: 59 },
  { low: 0, high: 23 },
  { low: 1, high: 31 },
  {
    low: 1,
    high: 12,
    names: ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  { low: 0, high: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];
const MACROS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** What is wrong with a schedule, or undefined. */
export function scheduleProblem(text: string): string | undefined {
  if (text.startsWith("@")) {
    if (MACROS.includes(text)) return undefined;
    if (text.startsWith("@every ")) {
      const duration = text.slice(7);
      return /^(\d+(\.\d+)?(ns|us|ms|s|m|h))+$/.test(duration)
        ? undefined
        : `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`;
    }
    return `unrecognized descriptor: ${text}`;
  }
  const parts = text.split(/\s+/).filter(Boolean);
  if (parts.length !== 5) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`;
  for (const [i, bounds] of FIELDS.entries()) {
    for (const term of parts[i]!.split(",")) {
      const problem = termProblem(term, bounds);
      if (problem) return problem;
    }
  }
  return undefined;
}

function termProblem(term: string, { low, high, names }: Bounds): string | undefined {
  const [range = "", ...steps] = term.split("/");
  const [first = "", ...ends] = range.split("-");
  const number = (text: string): number | string => {
    const named = names?.indexOf(text.toLowerCase()) ?? -1;
    if (named >= 0) return named;
    if (!/^[-+]?\d+$/.test(text)) {
      return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
    }
    return Number(text);
  };
  let start: number | string = low;
  let end: number | string = high;
  if (first !== "*" && first !== "?") {
    start = number(first);
    if (typeof start === "string") return start;
    if (ends.length > 1) return `too many hyphens: ${term}`;
    end = ends.length === 1 ? number(ends[0]!) : start;
    if (typeof end === "string") return end;
  }
  if (steps.length > 1) return `too many slashes: ${term}`;
  let step: number | string = 1;
  if (steps.length === 1) {
    step = number(steps[0]!);
    if (typeof step === "string") return step;
    if (ends.length === 0) end = high;
  }
  if (start < low) return `beginning of range (${start}) below minimum (${low}): ${term}`;
  if (end > high) return `end of range (${end}) above maximum (${high}): ${term}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${term}`;
  if (step === 0) return `step of range should be a positive number: ${term}`;
  return undefined;
}

/** Is it a name in the time zone database? */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}
