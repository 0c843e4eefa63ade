/** How a server shows what changed in a value that must not: a unified diff of its indented JSON. */

const CONTEXT = 3;

/** Unified diff of two values' JSON, indented by one space; empty when they are equal. */
export function jsonDiff(before: unknown, after: unknown): string {
  const a = JSON.stringify(before, null, 1).split("\n");
  const b = JSON.stringify(after, null, 1).split("\n");
  const edits = shortest(a, b);
  const changed = edits.flatMap((edit, i) => (edit.sign === " " ? [] : [i]));
  let out = "";
  for (let i = 0; i < changed.length; ) {
    let last = i;
    while (last + 1 < changed.length && changed[last + 1]! - changed[last]! <= 2 * CONTEXT) last++;
    const from = Math.max(0, changed[i]! - CONTEXT);
    const hunk = edits.slice(from, Math.min(edits.length, changed[last]! + CONTEXT + 1));
    const count = (sign: string) => hunk.filter((e) => e.sign !== sign).length;
    const first = edits.slice(0, from);
    const line = (sign: string) => first.filter((e) => e.sign !== sign).length + 1;
    out += `@@ -${line("+")},${count("+")} +${line("-")},${count("-")} @@\n`;
    out += hunk.map((e) => `${e.sign}${e.text}\n`).join("");
    i = last + 1;
  }
  return out;
}

interface Edit {
  sign: " " | "-" | "+";
  text: string;
}

/** A shortest edit script by longest common subsequence; values in messages are small. */
function shortest(a: string[], b: string[]): Edit[] {
  const length = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i]![j] = a[i] === b[j] ? length[i + 1]![j + 1]! + 1 : Math.max(length[i + 1]![j]!, length[i]![j + 1]!);
    }
  }
  const out: Edit[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ sign: " ", text: a[i++]! });
      j++;
    } else if (i < a.length && (j === b.length || length[i + 1]![j]! >= length[i]![j + 1]!)) {
      out.push({ sign: "-", text: a[i++]! });
    } else out.push({ sign: "+", text: b[j++]! });
  }
  return out;
}
