/** Reads the runbooks that a run gives its agents, and keeps out whatever holds the answers to a scenario. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { extname, join, relative, resolve, sep } from "node:path";
import { parseAllDocuments } from "yaml";
import type { RunbookDocument } from "../../agents/index.js";
import { packageFile } from "../../paths.js";

/** A folder that agents must not or cannot be given. */
export class RunbookFolderError extends Error {
  override name = "RunbookFolderError";
}

export interface Runbooks {
  documents: RunbookDocument[];
  /** First 16 hexadecimal digits of the SHA-256 of names and contents. */
  hash: string;
}

const MAX_FILE_BYTES = 1_000_000;
const MAX_FILES = 2_000;
const MARKDOWN = new Set([".md", ".markdown"]);
/** Read only to see whether they hold a scenario: a folder with one is no folder of runbooks. */
const DATA = new Set([".yaml", ".yml", ".json", ".jsonl"]);
/** Files that scenarios' and runs' answers are kept in. */
const ANSWER_NAMES = /^(ground[_-]?truths?(\..*)?|gt\.(ya?ml|json|md)|scores\.json)$/i;

/**
 * All Markdown files under `folder`, hidden ones left out.
 * @throws RunbookFolderError for a folder that does not exist, holds no Markdown, lies in the scenario library or around
 * it, or holds a scenario or a ground truth in any form
 */
export function readRunbooks(folder: string): Runbooks {
  const root = existing(folder);
  refuseLibrary(folder, root);
  const documents: RunbookDocument[] = [];
  for (const file of filesUnder(root, folder)) {
    const kind = extname(file).toLowerCase();
    const source = relative(root, file).split(sep).join("/");
    refuseLibrary(source, realpathSync(file));
    if (ANSWER_NAMES.test(source.split("/").at(-1)!)) throw holdsAnswers(source, folder);
    if (!MARKDOWN.has(kind) && !DATA.has(kind)) continue;
    if (statSync(file).size > MAX_FILE_BYTES) {
      if (DATA.has(kind)) continue;
      throw new RunbookFolderError(`--runbooks: ${source} is larger than ${MAX_FILE_BYTES} bytes: split it`);
    }
    const text = readFileSync(file, "utf8");
    if (revealsScenario(text)) throw holdsAnswers(source, folder);
    if (MARKDOWN.has(kind)) documents.push({ source, text });
  }
  if (documents.length === 0) throw new RunbookFolderError(`--runbooks: ${folder} holds no Markdown file (*.md)`);
  const hash = createHash("sha256");
  for (const { source, text } of documents) hash.update(`${source}\0${text}\0`);
  return { documents, hash: hash.digest("hex").slice(0, 16) };
}

/** Makes the folder for incident notes. @throws RunbookFolderError when it lies in the scenario library, or is a file */
export function openIncidentsFolder(folder: string): string {
  const path = resolve(folder);
  if (existsSync(path) && !statSync(path).isDirectory()) {
    throw new RunbookFolderError(`--save-incidents: ${folder} is a file: give a folder`);
  }
  if (isWithin(path, packageFile("scenarios"))) {
    throw new RunbookFolderError(`--save-incidents: ${folder} lies in the scenario library: give another folder`);
  }
  mkdirSync(path, { recursive: true });
  return path;
}

function existing(folder: string): string {
  if (!existsSync(folder)) throw new RunbookFolderError(`--runbooks: there is no folder ${folder}`);
  const root = realpathSync(folder);
  if (statSync(root).isDirectory()) return root;
  throw new RunbookFolderError(`--runbooks: ${folder} is a file: give the folder that holds it`);
}

function refuseLibrary(shown: string, path: string): void {
  const library = realpathSync(packageFile("scenarios"));
  if (!isWithin(path, library) && !isWithin(library, path)) return;
  throw new RunbookFolderError(
    `--runbooks: ${shown} lies in the scenario library or holds it, and with it the answers: give a folder of runbooks alone`,
  );
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

function holdsAnswers(source: string, folder: string): RunbookFolderError {
  return new RunbookFolderError(
    `--runbooks: ${source} in ${folder} is, or holds, a scenario or a ground truth; agents must not see those: move it elsewhere`,
  );
}

function filesUnder(root: string, shown: string): string[] {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.split(sep).some((part) => part.startsWith(".") || part === "node_modules"))
    .map((name) => join(root, name))
    .filter((file) => existsSync(file) && statSync(file).isFile())
    .sort();
  if (files.length <= MAX_FILES) return files;
  throw new RunbookFolderError(`--runbooks: ${shown} holds ${files.length} files; at most ${MAX_FILES} are read`);
}

/** Whether a text, one of its fenced blocks, or the lines below its front matter are a scenario or a ground truth. */
export function revealsScenario(text: string): boolean {
  if (/^[\s>*-]*["']?(ground_?truth|root_cause)["']?\s*:/im.test(text)) return true;
  const blocks = [...text.matchAll(/^\s*(```|~~~)[^\n]*\n([\s\S]*?)^\s*\1/gm)].map((match) => match[2]!);
  return [text, ...blocks].some((block) => documentsIn(block).some(isAnswer));
}

/** The YAML or JSON documents of a text; none when it is neither. */
function documentsIn(text: string): unknown[] {
  if (!/[{:]/.test(text)) return [];
  try {
    return parseAllDocuments(text, { prettyErrors: false, logLevel: "silent" }).flatMap((document) =>
      document.errors.length > 0 ? [] : [document.toJS({ maxAliasCount: 100 })],
    );
  } catch {
    return [];
  }
}

/** Of a value that was parsed: does it, or a part of it, have the shape of a scenario or of a ground truth? */
function isAnswer(value: unknown, depth = 0): boolean {
  if (value === null || typeof value !== "object" || depth > 6) return false;
  if (Array.isArray(value)) return value.some((one) => isAnswer(one, depth + 1));
  const keys = new Set(Object.keys(value).map((key) => key.toLowerCase().replace(/_/g, "")));
  const has = (...names: string[]) => names.every((name) => keys.has(name));
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
  if (kind === "GroundTruth" || String(apiVersion ?? "").startsWith("itbench.io/")) return true;
  if (has("groundtruth") || has("disruptions") || has("rootcause")) return true;
  if (
    has("groups", "propagations") ||
    has("groups", "aliases") ||
    has("entities", "propagations") ||
    has("entities", "solutions")
  )
    return true;
  if (has("fault", "alerts") || has("injections")) return true;
  return Object.values(value).some((one) => isAnswer(one, depth + 1));
}
