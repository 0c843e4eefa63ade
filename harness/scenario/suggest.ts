/** "Did you mean": names near a mistyped one. */

/** Edits (insert, delete, replace, swap of neighbours) between two words. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** At most `limit` of `names` that `word` may have meant, nearest first. */
export function suggest(word: string, names: Iterable<string>, limit = 3): string[] {
  const wanted = word.toLowerCase();
  const near: { name: string; distance: number }[] = [];
  for (const name of names) {
    const candidate = name.toLowerCase();
    const distance = candidate.endsWith(wanted) || wanted.endsWith(candidate) ? 1 : editDistance(wanted, candidate);
    if (distance <= Math.max(1, Math.floor(wanted.length / 3))) near.push({ name, distance });
  }
  near.sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name));
  return near.slice(0, limit).map((entry) => entry.name);
}
