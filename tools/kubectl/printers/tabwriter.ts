/** Aligned columns by the algorithm of Go's text/tabwriter, on which all of kubectl's tables rest. */

export interface TabOptions {
  minWidth: number;
  padding: number;
}

/** Of `kubectl get`. */
export const TABLE_TABS: TabOptions = { minWidth: 6, padding: 3 };
/** Of `kubectl describe`. */
export const DESCRIBE_TABS: TabOptions = { minWidth: 0, padding: 2 };

function width(text: string): number {
  let n = 0;
  for (const _ of text) n++;
  return n;
}

/**
 * Pads tab-terminated cells. A column is a run of consecutive lines that have a cell there; the last cell of a line
 * belongs to no column and is never padded.
 */
export function alignTabs(text: string, options: TabOptions): string {
  const trailing = text.endsWith("\n");
  const lines = (trailing ? text.slice(0, -1) : text).split("\n").map((line) => line.split("\t"));
  const sizes = lines.map((cells) => cells.map(width));
  const out: string[] = new Array(lines.length);
  const widths: number[] = [];

  const write = (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const cells = lines[i] as string[];
      let line = "";
      for (let j = 0; j < cells.length; j++) {
        const size = (sizes[i] as number[])[j] as number;
        line += cells[j];
        if (j < widths.length && j < cells.length - 1) line += " ".repeat(Math.max(0, (widths[j] as number) - size));
      }
      out[i] = line;
    }
  };
  const format = (start: number, end: number) => {
    const column = widths.length;
    let first = start;
    for (let at = start; at < end; at++) {
      if (column >= (lines[at] as string[]).length - 1) continue;
      write(first, at);
      first = at;
      let size = options.minWidth;
      for (; at < end && column < (lines[at] as string[]).length - 1; at++)
        size = Math.max(size, ((sizes[at] as number[])[column] as number) + options.padding);
      widths.push(size);
      format(first, at);
      widths.pop();
      first = at;
      at--;
    }
    write(first, end);
  };
  format(0, lines.length);
  return out.join("\n") + (trailing ? "\n" : "");
}
