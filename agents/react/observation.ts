/** What an agent gets to see of a tool's answer: bounded, cleaned of secrets, and fenced as data. */
import { cutMiddle } from "../../tools/index.js";

export interface Observation {
  /** Inside the fence. */
  content: string;
  /** With the fence, as the model is sent it. */
  fenced: string;
  bytes: number;
  cut: boolean;
}

/**
 * @param narrow how to ask for less, such as "add a label selector"
 * @param notes remarks of the loop, after the content
 */
export function observe(
  call: { id: string; tool: string },
  text: string,
  options: { maxBytes: number; ok: boolean; narrow: string; summarizer: boolean; notes?: readonly string[] },
): Observation {
  const whole = options.summarizer ? ` or read it whole with summarize (observation "${call.id}")` : "";
  const cut = cutMiddle(text, options.maxBytes, (bytes, lines) => {
    const many = lines > 1 ? `${lines} lines, ` : "";
    return `[... ${many}${bytes} bytes left out of the middle: ${options.narrow}${whole} ...]`;
  });
  // A text that closes the fence would let data pass for instructions.
  const content = [cut.text.replaceAll(/<(\/?observation)/gi, "<\u200b$1"), ...(options.notes ?? [])].join("\n");
  const status = options.ok ? "" : ' status="error"';
  return {
    content,
    fenced: `<observation id="${call.id}" tool="${call.tool}"${status}>\n${content}\n</observation>`,
    bytes: cut.bytes,
    cut: cut.left > 0,
  };
}
