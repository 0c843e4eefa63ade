/** Bounds a text without breaking it: cut in the middle, between lines where possible, never inside a code point. */

export interface Cut {
  text: string;
  /** Bytes of UTF-8 before the cut. */
  bytes: number;
  /** Bytes left out; 0 when nothing was. */
  left: number;
}

/**
 * At most `maxBytes` of `text` (the note that replaces the middle comes on top). The beginning keeps two thirds: that is
 * where headings stand.
 *
 * @param note the line that stands for what was left out
 */
export function cutMiddle(text: string, maxBytes: number, note: (leftBytes: number, leftLines: number) => string): Cut {
  const sound = wellFormed(text);
  const bytes = Buffer.byteLength(sound);
  if (bytes <= maxBytes) return { text: sound, bytes, left: 0 };
  const buffer = Buffer.from(sound);
  const headEnd = lineBreakBefore(buffer, characterBefore(buffer, Math.floor((maxBytes * 2) / 3)));
  const tailStart = lineBreakAfter(buffer, characterAfter(buffer, bytes - Math.floor(maxBytes / 3)));
  const middle = buffer.subarray(headEnd, tailStart);
  const head = buffer.subarray(0, headEnd).toString().trimEnd();
  const tail = buffer.subarray(tailStart).toString().trimStart();
  const lines = middle.reduce((count, byte) => count + (byte === NEWLINE ? 1 : 0), 0);
  return { text: `${head}\n${note(middle.length, lines)}\n${tail}`, bytes, left: middle.length };
}

/** `text` with each half of a broken surrogate pair replaced: half a character cannot be written as UTF-8. */
export function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}

const NEWLINE = 10;
/** How far from the ideal place a line break is looked for. */
const REACH = 400;

/** The nearest index at or before `at` where a character begins. */
function characterBefore(buffer: Buffer, at: number): number {
  let i = at;
  while (i > 0 && isContinuation(buffer[i])) i--;
  return i;
}

/** The nearest index at or after `at` where a character begins. */
function characterAfter(buffer: Buffer, at: number): number {
  let i = at;
  while (i < buffer.length && isContinuation(buffer[i])) i++;
  return i;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function lineBreakBefore(buffer: Buffer, at: number): number {
  const found = buffer.lastIndexOf(NEWLINE, at);
  return found >= 0 && at - found <= REACH ? found : at;
}

function lineBreakAfter(buffer: Buffer, at: number): number {
  const found = buffer.indexOf(NEWLINE, at);
  return found >= 0 && found - at <= REACH ? found + 1 : at;
}
