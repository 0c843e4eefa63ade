/**
 * Clusters log lines into templates, after Drain (He, Zhu, Zheng, Lyu: "Drain: An Online Log Parsing Approach with Fixed
 * Depth Tree", ICWS 2017): lines with the same number of words and the same first words are compared, and join the most
 * similar cluster, whose differing words become wildcards.
 */

export const WILDCARD = "<*>";

export interface Cluster {
  words: string[];
  count: number;
  /** A line as it was written. */
  example: string;
  /** Milliseconds since the epoch. */
  first: number;
  last: number;
  /** Lines before and from the time that divides the window. */
  before: number;
  after: number;
  sources: Set<string>;
}

export interface Line {
  /** Milliseconds since the epoch. */
  time: number;
  text: string;
  source: string;
}

/** Leading words by which clusters are found; a word with a digit counts as a wildcard there. */
const DEPTH = 2;
/** Share of equal words from which a line joins a cluster. */
const SIMILARITY = 0.5;
/** Words of a line that count; the rest of a very long line is one wildcard. */
const MAX_WORDS = 60;
/** Different first words below one node; further ones share a branch. */
const MAX_BRANCHES = 100;

export class Drain {
  readonly clusters: Cluster[] = [];
  readonly #tree = new Map<string, Map<string, Cluster[]>>();
  readonly #since: number;

  /** @param since divides the lines into before and after */
  constructor(since: number) {
    this.#since = since;
  }

  add(line: Line): Cluster {
    const words = wordsOf(line.text);
    const branch = this.#branch(words);
    let best: Cluster | undefined;
    let bestScore = -1;
    for (const cluster of branch) {
      const score = similarity(cluster.words, words);
      if (score > bestScore) {
        best = cluster;
        bestScore = score;
      }
    }
    if (best === undefined || bestScore < SIMILARITY) {
      best = {
        words,
        count: 0,
        example: line.text,
        first: line.time,
        last: line.time,
        before: 0,
        after: 0,
        sources: new Set(),
      };
      branch.push(best);
      this.clusters.push(best);
    } else {
      best.words = best.words.map((word, i) => (word === words[i] ? word : WILDCARD));
    }
    best.count++;
    best.first = Math.min(best.first, line.time);
    if (line.time >= best.last) {
      best.last = line.time;
      best.example = line.text;
    }
    if (line.time < this.#since) best.before++;
    else best.after++;
    best.sources.add(line.source);
    return best;
  }

  #branch(words: readonly string[]): Cluster[] {
    const length = String(words.length);
    const nodes = this.#tree.get(length) ?? new Map<string, Cluster[]>();
    this.#tree.set(length, nodes);
    let key = words
      .slice(0, DEPTH)
      .map((word) => (/\d|<\*>/.test(word) ? WILDCARD : word))
      .join(" ");
    if (!nodes.has(key) && nodes.size >= MAX_BRANCHES) key = WILDCARD;
    const branch = nodes.get(key) ?? [];
    nodes.set(key, branch);
    return branch;
  }
}

/** Share of places with the same word; wildcards count half, so that a more exact cluster wins. */
function similarity(cluster: readonly string[], words: readonly string[]): number {
  if (words.length === 0) return 1;
  let score = 0;
  for (let i = 0; i < words.length; i++) {
    if (cluster[i] === words[i]) score += words[i] === WILDCARD ? 0.5 : 1;
    else if (cluster[i] === WILDCARD) score += 0.5;
  }
  return score / words.length;
}

/** Terminal colours. */
const COLOR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** The words of a line, with what always differs taken out: times, ids, numbers, addresses, quoted values. */
export function wordsOf(line: string): string[] {
  const text = messageOf(line)
    .replace(COLOR, "")
    .replace(/\b\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?/g, WILDCARD)
    .replace(/\b\d\d:\d\d:\d\d([.,]\d+)?\b/g, WILDCARD)
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, WILDCARD)
    .replace(/\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g, WILDCARD)
    .replace(/\b0x[0-9a-f]+\b/gi, WILDCARD)
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, WILDCARD);
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  const kept = words.slice(0, MAX_WORDS).map(masked);
  return words.length > MAX_WORDS ? [...kept, WILDCARD] : kept;
}

/** Numbers in a word are wildcards: `status=500` stays, since a status tells; `took=12ms` does not. */
function masked(word: string): string {
  if (/^["'([]*(HTTP\/[\d.]+|[45]\d\d)["')\];:.]*$/.test(word) || /(status|code)["']?[=:]["']?\d{3}\b/i.test(word)) {
    return word;
  }
  const value = word.replace(/[-+]?\d+(\.\d+)*/g, WILDCARD);
  return value.replace(/(<\*>[\w.:%-]*)+<\*>/g, WILDCARD);
}

const LEVEL_KEYS = ["level", "severity", "severity_text", "lvl", "levelname", "log.level"];
const MESSAGE_KEYS = ["message", "msg", "body", "event", "log", "Body", "@message"];
const ERROR_KEYS = ["error", "err", "exception", "exception.message", "cause"];

/** Of a line that is a JSON object: level, message and error; any other line as it is. */
function messageOf(line: string): string {
  if (!/^\s*\{.*\}\s*$/s.test(line)) return line;
  let object: Record<string, unknown>;
  try {
    object = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const pick = (keys: readonly string[]) => keys.map((key) => object[key]).find((value) => value !== undefined);
  const parts = [pick(LEVEL_KEYS), pick(MESSAGE_KEYS), pick(ERROR_KEYS)].filter((value) => value !== undefined);
  if (parts.length === 0 || (parts.length === 1 && pick(LEVEL_KEYS) !== undefined)) return line;
  return parts.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ");
}
