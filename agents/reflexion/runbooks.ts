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
const MAX_CHUNK = 2_400;
/** The rarest words of a query that are looked for: the others tell chunks apart the least, and each costs a pass. */
const MAX_TERMS = 24;

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
  // The retriever counts ASCII words, and looks for the query's anywhere in a text, in lower case. Numbers in the place of
  // words, each between marks, make it find whole words of any language, however they were written.
  const vocabulary = new Map<string, { number: number; chunks: number }>();
  const numberOf = (word: string): number => {
    const known = vocabulary.get(word) ?? { number: vocabulary.size, chunks: 0 };
    vocabulary.set(word, known);
    return known.number;
  };
  const indexed = chunks.map((chunk, index) => {
    const text = words(`${chunk.heading}\n${chunk.text}`);
    const pageContent = marked(text.map(numberOf));
    for (const word of new Set(text)) vocabulary.get(word)!.chunks++;
    return new Document({ pageContent, metadata: { index } });
  });
  const retriever = BM25Retriever.fromDocuments(indexed, { k: top, includeScore: true });
  return {
    async find(query) {
      const known = [...new Set(words(query))].flatMap((word) => vocabulary.get(word) ?? []);
      const asked = known
        .sort((a, b) => a.chunks - b.chunks || a.number - b.number)
        .slice(0, MAX_TERMS)
        .map((one) => one.number);
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

/** Words in lower case; names in camel or kebab case also by their parts; pairs of characters where no blanks divide words. */
function words(text: string): string[] {
  const found: string[] = [];
  for (const [run] of text.matchAll(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu)) {
    const characters = [...run];
    characters.forEach((character, index) => {
      const next = characters[index + 1];
      if (next !== undefined || characters.length === 1) found.push(character + (next ?? ""));
    });
  }
  for (const [word] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu)) {
    const parts = word.split(/[-_]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
    const all = parts.length > 1 ? [word, ...parts] : [word];
    for (const part of all.map((one) => one.toLowerCase())) {
      if (part.length > 1 && !STOP_WORDS.has(part)) found.push(part);
    }
  }
  return found;
}

function marked(tokens: readonly number[]): string {
  return tokens.map((token) => `_${token}_`).join(" ");
}

interface Section {
  level: number;
  title: string;
  /** Without the heading. */
  body: string;
}

/**
 * A text that is short is one chunk; a longer one is cut by its headings, from the outermost inwards, so that what
 * belongs together stays together; and between paragraphs, or where it must be, in the end.
 */
export function chunkMarkdown({ source, text }: RunbookDocument): RunbookChunk[] {
  const chunk = (sections: Section[], path: string[]): RunbookChunk[] => {
    const [first, ...rest] = sections;
    if (first === undefined) return [];
    const titles = [...path, first.title].filter(Boolean);
    const whole = [first.body, ...rest.map(written)].join("\n\n").trim();
    if (whole.length <= MAX_CHUNK || rest.length === 0) {
      return pieces(whole).map((piece) => ({ source, heading: titles.join(" > "), text: piece }));
    }
    return [...chunk([first], path), ...groups(rest).flatMap((group) => chunk(group, titles))];
  };
  const sections = sectionsOf(text);
  // Several texts side by side in one file, each under a heading of the outermost level, are several chunks.
  return groups(sections).flatMap((group) => chunk(group, []));
}

/** Each section with those below it. */
function groups(sections: readonly Section[]): Section[][] {
  const found: Section[][] = [];
  for (const section of sections) {
    const last = found.at(-1);
    if (last && section.level > last[0]!.level) last.push(section);
    else found.push([section]);
  }
  return found;
}

function written({ level, title, body }: Section): string {
  return `${"#".repeat(level)} ${title}\n${body}`;
}

function sectionsOf(text: string): Section[] {
  const sections: Section[] = [];
  let current: Section = { level: 7, title: "", body: "" };
  let lines: string[] = [];
  let fence: string | undefined;
  const close = () => {
    const body = lines.join("\n").trim();
    if (current.title !== "" || body !== "") sections.push({ ...current, body });
    lines = [];
  };
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (mark && (fence === undefined || fence === mark)) fence = fence === undefined ? mark : undefined;
    const heading = fence === undefined ? /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) : null;
    if (!heading) {
      lines.push(line);
      continue;
    }
    close();
    current = { level: heading[1]!.length, title: heading[2]!, body: "" };
  }
  close();
  return sections;
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
      return `<runbook source="${place}">\n${text.replace(/<(?=\s*\/?\s*runbook)/gi, "&lt;")}\n</runbook>`;
    })
    .join("\n");
}
