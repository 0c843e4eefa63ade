/** Lines of a description: two blanks a level, cells parted by tabs and aligned at the end. */
import { alignTabs, DESCRIBE_TABS } from "../printers/tabwriter.js";

export class Description {
  private text = "";
  private done = "";

  /** Appends `text` as it is, behind `level` steps of indentation. */
  write(level: number, text: string): void {
    this.text += "  ".repeat(level) + text;
  }

  /** A line `label:<tab>value`. */
  field(level: number, label: string, value: unknown): void {
    this.write(level, `${label}:\t${value}\n`);
  }

  line(level: number, text: string): void {
    this.write(level, `${text}\n`);
  }

  /** Aligns what was written so far apart from what follows. */
  flush(): void {
    this.done += alignTabs(this.text, DESCRIBE_TABS);
    this.text = "";
  }

  /** The text with its tabs, as `rollout history --revision` prints it. */
  unaligned(): string {
    return this.text;
  }

  toString(): string {
    this.flush();
    return this.done;
  }
}
