/** The programs that output may be piped into. Each is a function in this process; no program is started. */
import { awk } from "./awk.js";
import { type Filter, FilterError, type FilterResult } from "./filter.js";
import { egrep, fgrep, grep } from "./grep.js";
import { jq } from "./jq.js";
import { cat, column, cut, head, nl, sort, tail, tr, uniq, wc } from "./lines.js";

const FILTERS: readonly Filter[] = [grep, egrep, fgrep, head, tail, sort, uniq, wc, cut, awk, jq, tr, cat, nl, column];

export function filterNames(): string[] {
  return FILTERS.map((filter) => filter.name);
}

/** Runs one filter; its own complaints come back in `stderr` with its exit code. */
export async function runFilter(argv: readonly string[], input: string): Promise<FilterResult> {
  const filter = FILTERS.find(({ name }) => name === argv[0]);
  if (!filter) return { stdout: "", stderr: `${argv[0]}: not available`, code: 127 };
  try {
    return await filter.run(argv.slice(1), input);
  } catch (error) {
    if (error instanceof FilterError) return { stdout: "", stderr: error.message, code: error.code };
    throw error;
  }
}
