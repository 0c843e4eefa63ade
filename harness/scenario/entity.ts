/** Entities (`namespace/Kind/name`) and the groups of a ground truth that they belong to. */
import type { Group } from "./schema.js";

export interface Entity {
  /** Empty when none was given, or for cluster-scoped kinds. */
  namespace: string;
  kind: string;
  name: string;
}

/** Reads `namespace/Kind/name`, or `Kind/name`; undefined when it is neither. */
export function parseEntity(text: string): Entity | undefined {
  const parts = text.trim().split("/");
  if (parts.length === 2) parts.unshift("");
  if (parts.length !== 3) return undefined;
  const [namespace, kind, name] = parts.map((part) => part.trim()) as [string, string, string];
  return kind && name ? { namespace, kind, name } : undefined;
}

export function formatEntity(entity: Entity): string {
  return `${entity.namespace}/${entity.kind}/${entity.name}`;
}

export interface GroupMatcher {
  group: Group;
  /** Filters that are no regular expressions, with the engine's message; they are matched literally. */
  invalid: { filter: string; message: string }[];
  matches(entity: Entity): boolean;
}

/**
 * Kind equal whatever its case; namespace equal where the group gives one; the name equals `name`, or a filter matches
 * it from start to end.
 */
export function groupMatcher(group: Group): GroupMatcher {
  const invalid: GroupMatcher["invalid"] = [];
  const expressions: RegExp[] = [];
  const literals = new Set<string>(group.name === undefined ? [] : [group.name]);
  for (const filter of group.filter ?? []) {
    try {
      expressions.push(wholeName(filter));
    } catch (error) {
      invalid.push({ filter, message: (error as Error).message });
      literals.add(filter);
    }
  }
  const kind = group.kind.toLowerCase();
  return {
    group,
    invalid,
    matches: (entity) =>
      entity.kind.toLowerCase() === kind &&
      (group.namespace === undefined || entity.namespace === group.namespace) &&
      (literals.has(entity.name) || expressions.some((expression) => expression.test(entity.name))),
  };
}

/** ITBench's filters are Python's: a leading `(?i)`, named groups and \A, \Z are spelled in JavaScript's way first. */
function wholeName(filter: string): RegExp {
  let body = filter
    .replaceAll("(?P<", "(?<")
    .replace(/^\\A/, "^")
    .replace(/\\[Zz]$/, "$");
  let flags = "";
  const inline = /^\(\?([ims]+)\)/.exec(body);
  if (inline) {
    flags = inline[1]!;
    body = body.slice(inline[0].length);
  }
  // The filter alone must be an expression: wrapped, an unbalanced one such as `a)(b` would pass.
  new RegExp(body, flags);
  return new RegExp(`^(?:${body})$`, flags);
}

/** Connected sets of group ids: aliases closed transitively. Unknown ids count too; a group without aliases stands alone. */
export function aliasSets(ids: Iterable<string>, aliases: readonly (readonly string[])[]): string[][] {
  const parent = new Map<string, string>();
  const find = (id: string): string => {
    let root = id;
    while (parent.get(root) !== undefined && parent.get(root) !== root) root = parent.get(root)!;
    return root;
  };
  for (const id of ids) parent.set(id, id);
  for (const alias of aliases) {
    for (const id of alias) if (!parent.has(id)) parent.set(id, id);
    for (const id of alias.slice(1)) parent.set(find(id), find(alias[0]!));
  }
  const sets = new Map<string, string[]>();
  for (const id of parent.keys()) {
    const root = find(id);
    const set = sets.get(root);
    if (set) set.push(id);
    else sets.set(root, [id]);
  }
  return [...sets.values()];
}
