/** Plain-text tables. */

export interface Column {
  title: string;
  align?: "left" | "right";
}

const ANSI = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** Rows under titles, columns two blanks apart; cells may hold colours. Ends with a line break. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[], indent = ""): string {
  const widths = columns.map((column, index) =>
    Math.max(visibleWidth(column.title), ...rows.map((row) => visibleWidth(row[index] ?? ""))),
  );
  const line = (cells: readonly string[]) =>
    `${indent}${columns
      .map((column, index) => {
        const cell = cells[index] ?? "";
        const gap = " ".repeat(widths[index]! - visibleWidth(cell));
        return column.align === "right" ? gap + cell : cell + gap;
      })
      .join("  ")}`.trimEnd();
  return `${[line(columns.map((column) => column.title)), ...rows.map(line)].join("\n")}\n`;
}

export function visibleWidth(text: string): number {
  return [...text.replace(ANSI, "")].length;
}

/** Folds text at blanks so that no line is wider than `width`, each line after `indent`. */
export function wrap(text: string, width: number, indent = ""): string {
  const room = Math.max(20, width - indent.length);
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(/\s+/).filter(Boolean)) {
      if (line && line.length + 1 + word.length > room) {
        lines.push(line);
        line = word;
      } else line = line ? `${line} ${word}` : word;
    }
    lines.push(line);
  }
  return lines.map((line) => indent + line).join("\n");
}
