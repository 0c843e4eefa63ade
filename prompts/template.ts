/**
 * Templates: `{{name}}` is a variable, `{{#name}} ... {{/name}}` stays only when the variable is not empty,
 * `{{> name}}` includes a partial. Anything else in double braces is an error, except what starts with a dot, which is
 * somebody else's template language and stays. Values are never read as templates.
 */
import { PromptError } from "./errors.js";

type Node = { text: string } | { variable: string } | { section: string; body: Node[] };

const TAG = /\{\{(?!\.)\s*([#/>]?)\s*([^{}]*?)\s*\}\}/g;
const NAME = /^[a-z][a-z0-9_-]*$/;

/** @param partial gives the text of a partial @throws PromptError naming the file */
export function parseTemplate(template: string, file: string, partial: (name: string) => string): Node[] {
  const root: Node[] = [];
  const open: { name: string; outer: Node[] }[] = [];
  let body = root;
  let end = 0;
  const text = expandPartials(template, file, partial, 0);
  for (const match of text.matchAll(TAG)) {
    const [tag, sign, name] = match as unknown as [string, string, string];
    if (!NAME.test(name)) throw new PromptError(`${file}: cannot read ${tag}`);
    if (match.index > end) body.push({ text: text.slice(end, match.index) });
    end = match.index + tag.length;
    if (sign === "#") {
      const section = { section: name, body: [] as Node[] };
      body.push(section);
      open.push({ name, outer: body });
      body = section.body;
      end = skipLineBreak(text, match.index, end);
    } else if (sign === "/") {
      const last = open.pop();
      if (last?.name !== name) throw new PromptError(`${file}: ${tag} closes nothing`);
      body = last.outer;
      end = skipLineBreak(text, match.index, end);
    } else {
      body.push({ variable: name });
    }
  }
  if (open.length > 0) throw new PromptError(`${file}: {{#${open.at(-1)!.name}}} is not closed`);
  if (end < text.length) body.push({ text: text.slice(end) });
  return root;
}

export function variablesOf(nodes: readonly Node[]): Set<string> {
  const names = new Set<string>();
  for (const node of nodes) {
    if ("variable" in node) names.add(node.variable);
    if ("section" in node) {
      names.add(node.section);
      for (const name of variablesOf(node.body)) names.add(name);
    }
  }
  return names;
}

/** The template that the nodes were read from, its partials filled in. */
export function sourceOf(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if ("text" in node) return node.text;
      if ("variable" in node) return `{{${node.variable}}}`;
      const body = sourceOf(node.body);
      const lineBreak = body.endsWith("\n") ? "\n" : "";
      return `{{#${node.section}}}${lineBreak}${body}{{/${node.section}}}${lineBreak}`;
    })
    .join("");
}

export function hasSection(nodes: readonly Node[], name: string): boolean {
  return nodes.some((node) => "section" in node && (node.section === name || hasSection(node.body, name)));
}

/** The nodes without the sections of these names. */
export function omitSections(nodes: readonly Node[], names: readonly string[]): Node[] {
  return nodes.flatMap((node): Node[] => {
    if (!("section" in node)) return [node];
    return names.includes(node.section) ? [] : [{ ...node, body: omitSections(node.body, names) }];
  });
}

export function renderNodes(nodes: readonly Node[], values: Readonly<Record<string, string>>): string {
  return nodes
    .map((node) => {
      if ("text" in node) return node.text;
      if ("variable" in node) return values[node.variable]!;
      return values[node.section] === "" ? "" : renderNodes(node.body, values);
    })
    .join("");
}

function expandPartials(text: string, file: string, partial: (name: string) => string, depth: number): string {
  if (depth > 5) throw new PromptError(`${file}: partials include each other`);
  return text.replace(TAG, (tag, sign: string, name: string) =>
    sign === ">" ? expandPartials(partial(name).trimEnd(), file, partial, depth + 1) : tag,
  );
}

/** A section's tag that has a line to itself takes its line break with it. */
function skipLineBreak(text: string, start: number, end: number): number {
  const alone = (start === 0 || text[start - 1] === "\n") && text[end] === "\n";
  return alone ? end + 1 : end;
}
