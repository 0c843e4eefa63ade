/** "Did you mean": names near a wrong one, and names that a question seems to speak of. */

/** Up to `max` of `names` that resemble `wrong`, best first. */
export function suggest(wrong: string, names: readonly string[], max = 5): string[] {
  const target = wrong.toLowerCase();
  const parts = words(target);
  const scored = names.map((name) => {
    const lower = name.toLowerCase();
    const shared = words(lower).filter((part) => parts.includes(part)).length;
    const distance = editDistance(target, lower, 40);
    const inside = lower.includes(target) || target.includes(lower) ? 1 : 0;
    return { name, score: shared * 2 + inside * 3 - (distance / Math.max(target.length, lower.length)) * 4 };
  });
  const best = Math.max(...scored.map((one) => one.score));
  return scored
    .filter((one) => one.score > FAR && one.score >= best - CLOSE)
    .sort((a, b) => b.score - a.score || a.name.localeCompare(b.name))
    .slice(0, max)
    .map((one) => one.name);
}

/** Below this a name has nothing in common with the wrong one: few letters, no word. */
const FAR = -1.6;
/** A name that is so much farther than the nearest is no help beside it. */
const CLOSE = 2.5;

/** `: did you mean a, b or c?`, or nothing where nothing is near. */
export function didYouMean(wrong: string, names: readonly string[], max = 5): string {
  const near = suggest(wrong, names, max);
  return near.length === 0 ? "" : `; did you mean ${near.join(", ")}?`;
}

/**
 * Up to `max` of `names` that `wrong` is most likely a slip for: two letters off in a word of five or more, the same
 * but for case and signs between words, or one the beginning of the other at such a sign.
 */
export function nearest(wrong: string, names: readonly string[], max = 3): string[] {
  const target = wrong.toLowerCase();
  const bare = target.replace(/[^a-z0-9]/g, "");
  const allowed = target.length < 5 ? 1 : target.length < 12 ? 2 : 3;
  const scored: { name: string; distance: number }[] = [];
  for (const name of names) {
    const lower = name.toLowerCase();
    if (lower === target && name === wrong) continue;
    const distance = editDistance(target, lower, allowed + 1);
    const whole = (long: string, short: string) =>
      short.length > 2 && long.startsWith(short) && /^[^a-z0-9]/.test(long.slice(short.length));
    if (distance <= allowed) scored.push({ name, distance });
    else if (lower.replace(/[^a-z0-9]/g, "") === bare) scored.push({ name, distance: 1 });
    else if (whole(lower, target) || whole(target, lower)) scored.push({ name, distance: 3 });
    else if (target === `${lower}service` || target === `${lower}-service`) scored.push({ name, distance: 2 });
  }
  return scored
    .sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name))
    .slice(0, max)
    .map((one) => one.name);
}

/**
 * Names of metrics that `wrong` is a slip for: the same words in another order, one word mistyped, or one word too many
 * or too few. Another word in its place, such as job for pod, is no slip.
 */
export function metricSlips(wrong: string, names: readonly string[], max = 3): string[] {
  const parts = wordsOf(wrong);
  const slips = names.filter((name) => {
    const others = wordsOf(name);
    const extra = without(parts, others);
    const missing = without(others, parts);
    if (extra.length + missing.length === 0) return true;
    if (extra.length + missing.length === 1) return Math.min(parts.length, others.length) >= 3;
    if (extra.length !== 1 || missing.length !== 1) return parts.join("") === others.join("");
    const [a, b] = [extra[0]!, missing[0]!];
    const allowed = a.length < 4 ? 0 : a.length < 6 ? 1 : 2;
    return editDistance(a, b, allowed + 1) <= allowed;
  });
  return slips.slice(0, max);
}

function wordsOf(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== "");
}

/** What `words` holds beyond `others`, each as often. */
function without(words: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return words.filter((word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** At most `max` of `names`, those that share words with `question` first, then the rest in order. */
export function relevant(names: readonly string[], question: string, max: number): string[] {
  if (names.length <= max) return [...names];
  const asked = words(question.toLowerCase()).map(stem);
  const score = (name: string) => words(name.toLowerCase()).filter((part) => asked.includes(stem(part))).length;
  return names
    .map((name, i) => ({ name, i, score: score(name) }))
    .sort((a, b) => b.score - a.score || a.i - b.i)
    .slice(0, max)
    .map((one) => one.name);
}

/** A list for reading: `a, b, c and 12 more`. */
export function listing(names: readonly string[], max = 20): string {
  if (names.length <= max) return names.join(", ");
  return `${names.slice(0, max).join(", ")} and ${names.length - max} more`;
}

function words(text: string): string[] {
  return text.split(/[^a-z0-9]+/).filter((part) => part.length > 1);
}

function stem(word: string): string {
  return word.replace(/(ies|es|s)$/, "");
}

/** Levenshtein distance, at most `limit`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return Math.min(previous[b.length]!, limit);
}
