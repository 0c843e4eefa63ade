/** Memory of runbooks and past incidents: Markdown, cut into sections, found again by BM25. */

export interface RunbookDocument {
  /** Name to show, such as `kafka/lag.md`. */
  source: string;
  text: string;
}

export interface RunbookChunk {
  source: string;
  /** Headings above the text, outermost first, such as `Kafka > Consumer lag`. */
  heading: string;
  text: string;
}

export interface RunbookMatch extends RunbookChunk {
  /** BM25; higher fits better. */
  score: number;
}

/** Finds what fits a situation. */
export interface RunbookMemory {
  /** Best first, at most as many as the memory was made for; nothing that shares no word with `query`. */
  find(query: string): Promise<RunbookMatch[]>;
}

export const DEFAULT_TOP = 3;
/** Longest chunk in characters: three of them do not crowd out a prompt. */
const MAX_CHUNK = 1_600;

/** @param top how many chunks a search returns at most */
export async function createRunbookMemory(
  documents: readonly RunbookDocument[],
  options: { top?: number } = {},
): Promise<RunbookMemory> {
  const top = options.top ?? DEFAULT_TOP;
  const chunks = documents.flatMap(chunkMarkdown);
  if (chunks.length === 0) return { find: async () => [] };
  const [{ BM25Retriever }, { Document }] = await Promise.all([
    import("@langchain/community/retrievers/bm25"),
    import("@langchain/core/documents"),
  ]);
  // The retriever looks for the query's words in lower case and anywhere in a text; given whole words between marks, it
  // finds whole words, however they were written.
  const indexed = chunks.map(
    (chunk, index) =>
      new Document({ pageContent: marked(words(`${chunk.heading}\n${chunk.text}`)), metadata: { index } }),
  );
  const retriever = BM25Retriever.fromDocuments(indexed, { k: top, includeScore: true });
  return {
    async find(query) {
      const asked = [...new Set(words(query))];
      if (asked.length === 0) return [];
      const found = await retriever.invoke(marked(asked));
      return found
        .map(({ metadata }) => ({ ...chunks[metadata.index as number]!, score: Number(metadata.bm25Score) }))
        .filter(({ score }) => score > 0);
    },
  };
}

const STOP_WORDS = new Set(
  "a an and are as at be been but by can do does for from has have if in into is it its no not of on or so than that the their then there these this to was were what when where which will with you your".split(
    " ",
  ),
);

/** Words in lower case; names in camel or kebab case also by their parts. */
function words(text: string): string[] {
  const found: string[] = [];
  for (const [word] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu)) {
    const parts = word.split(/[-_]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
    const all = parts.length > 1 ? [word, ...parts] : [word];
    for (const part of all.map((one) => one.toLowerCase())) {
      if (part.length > 1 && !STOP_WORDS.has(part)) found.push(part);
    }
  }
  return found;
}

function marked(tokens: readonly string[]): string {
  return tokens.map((token) => `|${token}|`).join(" ");
}

/** Sections of a Markdown text under their headings; long ones are cut between paragraphs, or where they must be. */
export function chunkMarkdown({ source, text }: RunbookDocument): RunbookChunk[] {
  const chunks: RunbookChunk[] = [];
  const headings: string[] = [];
  let body: string[] = [];
  let fence: string | undefined;
  const close = () => {
    for (const piece of pieces(body.join("\n").trim())) {
      chunks.push({ source, heading: headings.filter(Boolean).join(" > "), text: piece });
    }
    body = [];
  };
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (mark && (fence === undefined || fence === mark)) fence = fence === undefined ? mark : undefined;
    const heading = fence === undefined ? /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) : null;
    if (!heading) {
      body.push(line);
      continue;
    }
    close();
    headings.length = heading[1]!.length - 1;
    headings[heading[1]!.length - 1] = heading[2]!;
  }
  close();
  return chunks;
}

function pieces(text: string): string[] {
  if (text === "") return [];
  const found: string[] = [];
  let piece = "";
  for (const paragraph of text.split(/\n{2,}/)) {
    const parts = paragraph.match(new RegExp(`[\\s\\S]{1,${MAX_CHUNK}}`, "gu")) ?? [];
    for (const part of parts) {
      if (piece !== "" && piece.length + part.length + 2 > MAX_CHUNK) {
        found.push(piece);
        piece = part;
      } else piece = piece === "" ? part : `${piece}\n\n${part}`;
    }
  }
  if (piece !== "") found.push(piece);
  return found;
}

/** The chunks between tags, as data for a prompt; what would close a tag early is taken apart. */
export function fenceChunks(chunks: readonly RunbookChunk[]): string {
  return chunks
    .map(({ source, heading, text }) => {
      const place = [source, heading]
        .filter(Boolean)
        .join(": ")
        .replace(/["<>\n]/g, " ");
      return `<runbook source="${place}">\n${text.replace(/<(\/?runbook)/gi, "< $1")}\n</runbook>`;
    })
    .join("\n");
}
