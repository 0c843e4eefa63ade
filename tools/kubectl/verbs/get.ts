/** `kubectl get`. */
import { kindPrefix, qualifiedName, type Resource, resourcePath } from "../client/discovery.js";
import { loadManifests } from "../client/manifest.js";
import { MAX_READ_BYTES } from "../client/rest.js";
import {
  fetchObjects,
  listError,
  missingNamespace,
  pathOf,
  scopeOf,
  selectTargets,
  type Target,
} from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { ApiError, KubectlError, usageError } from "../errors.js";
import { listOf, objectPrinter, outputFormat } from "../printers/output.js";
import { sortable as hasField, sortBy } from "../printers/sort.js";
import {
  plainTable,
  printTabs,
  type ServerTable,
  TABLE_ACCEPT,
  type TableOptions,
  tableLines,
} from "../printers/table.js";
import { maskSecrets } from "../secrets.js";
import { ALL_NAMESPACES, FILENAME, OUTPUT, SELECTOR } from "./flag-sets.js";

const NO_TYPE = `error: Required resource not specified.`;

interface TableGroup {
  resource: Resource;
  tables: ServerTable[];
}

function asTable(answer: any): ServerTable {
  if (answer?.kind === "Table") return { ...answer, rows: answer.rows ?? [] };
  return plainTable(Array.isArray(answer?.items) ? answer.items : [answer]);
}

async function tableOf(context: Context, target: Target): Promise<ServerTable[]> {
  const { flags } = context;
  const query: Record<string, string | undefined> = flags.string("sort-by") ? { includeObject: "Object" } : {};
  if (target.name !== undefined) {
    const path = pathOf(context, target, flags.string("subresource") || undefined);
    return [asTable(await context.client.json({ path, accept: TABLE_ACCEPT, query }))];
  }
  const tables: ServerTable[] = [];
  const budget = { left: MAX_READ_BYTES };
  let next: string | undefined;
  do {
    const answer = await context.client.json({
      path: resourcePath(target.resource, scopeOf(context, target.resource)),
      accept: TABLE_ACCEPT,
      budget,
      query: {
        ...query,
        labelSelector: flags.string("selector"),
        fieldSelector: flags.string("field-selector"),
        limit: flags.int("chunk-size") > 0 ? String(flags.int("chunk-size")) : undefined,
        ...(next ? { continue: next } : {}),
      },
    });
    tables.push(asTable(answer));
    next = answer.metadata?.continue || undefined;
  } while (next);
  return tables;
}

/** Prints groups of tables, a blank line between two kinds. */
function printGroups(context: Context, groups: TableGroup[], showKind: boolean, wide: boolean): boolean {
  const { flags } = context;
  let printed = false;
  let lines: string[] = [];
  const texts: string[] = [];
  for (const { resource, tables } of groups) {
    if (tables.every((t) => t.rows.length === 0)) continue;
    const options: TableOptions = {
      wide,
      noHeaders: flags.bool("no-headers"),
      showLabels: flags.bool("show-labels"),
      labelColumns: flags.list("label-columns"),
      withNamespace: context.allNamespaces && resource.namespaced,
      ...(showKind ? { kind: kindPrefix(resource) } : {}),
    };
    lines = tableLines(tables, options);
    texts.push(printTabs(lines));
    printed = true;
  }
  context.out(texts.join(flags.bool("no-headers") ? "" : "\n"));
  return printed;
}

async function printTables(context: Context, targets: Target[]): Promise<void> {
  const { flags } = context;
  const groups: TableGroup[] = [];
  const errors: unknown[] = [];
  for (const target of targets) {
    try {
      const tables = await tableOf(context, target);
      const last = groups.at(-1);
      if (last && last.resource === target.resource) last.tables.push(...tables);
      else groups.push({ resource: target.resource, tables });
    } catch (error) {
      if (flags.bool("ignore-not-found") && error instanceof ApiError && error.notFound) continue;
      errors.push(
        target.name === undefined
          ? listError(context, target.resource, error)
          : await missingNamespace(context, target.resource, error),
      );
    }
  }
  const sort = flags.string("sort-by");
  if (sort)
    for (const group of groups) {
      const first = group.tables[0];
      const rows = group.tables.flatMap((t) => t.rows);
      // A table whose rows all lack the field is not shown; kubectl says that it found nothing.
      if (first)
        group.tables = [
          { ...first, rows: hasField(rows, sort, (row) => row.object) ? sortBy(rows, sort, (row) => row.object) : [] },
        ];
    }
  const kinds = new Set(groups.map((g) => qualifiedName(g.resource)));
  const printed = printGroups(
    context,
    groups,
    kinds.size > 1 || flags.bool("show-kind"),
    outputFormat(context).format === "wide",
  );
  if (!printed && errors.length === 0 && !flags.bool("ignore-not-found")) {
    const scoped = !context.allNamespaces && targets.every((t) => t.resource.namespaced);
    context.err(scoped ? `No resources found in ${context.namespace} namespace.\n` : "No resources found\n");
  }
  for (const error of errors) context.fail(error);
}

async function printObjects(context: Context, targets: Target[]): Promise<void> {
  const { flags } = context;
  const print = objectPrinter(context);
  const { format } = outputFormat(context);
  const single = targets.length === 1 && targets[0]?.name !== undefined;
  const sub = flags.string("subresource");
  let found: { resource: Resource; object: any }[];
  let errors: unknown[] = [];
  if (sub && single) {
    const target = targets[0] as Target;
    found = [{ resource: target.resource, object: await context.client.json({ path: pathOf(context, target, sub) }) }];
  } else ({ found, errors } = await fetchObjects(context, targets));
  if (flags.bool("ignore-not-found")) errors = errors.filter((e) => !(e instanceof ApiError && e.notFound));
  if (single && errors.length > 0) throw errors[0];
  if (flags.string("sort-by")) found = sortBy(found, flags.string("sort-by"), (f) => f.object);
  if (format === "name" || format === "custom-columns") {
    const text = print(listOf(found.map((f) => f.object)), "");
    if (found.length > 0) context.out(text);
    else if (format === "custom-columns" && !flags.bool("no-headers")) context.out(text);
  } else if (single) {
    const only = found[0];
    if (only) context.out(print(only.object, only.resource.group));
  } else if (found.length > 0 || errors.length === 0) context.out(print(listOf(found.map((f) => f.object)), ""));
  for (const error of errors) context.fail(error);
}

async function raw(context: Context, path: string): Promise<void> {
  if (context.args.length > 0) throw usageError("arguments may not be passed when --raw is specified");
  const url = new URL(path, "http://server");
  const text = await context.client.text({
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
  });
  let masked = text;
  if (context.maskSecrets && /secret/i.test(decodeURIComponent(url.pathname) + text.slice(0, 300))) {
    try {
      masked = JSON.stringify(maskSecrets(JSON.parse(text)));
    } catch {
      // Not JSON: nothing of the shape of a Secret.
    }
  }
  context.out(masked);
}

export const get: Verb = {
  name: ["get"],
  access: "read",
  flags: {
    ...SELECTOR,
    ...ALL_NAMESPACES,
    ...OUTPUT,
    ...FILENAME,
    "field-selector": { type: "string" },
    "show-labels": { type: "bool" },
    "label-columns": { type: "csv", short: "L" },
    "no-headers": { type: "bool" },
    "sort-by": { type: "string" },
    "ignore-not-found": { type: "bool" },
    "show-kind": { type: "bool" },
    "chunk-size": { type: "int", default: 500 },
    subresource: { type: "string" },
    "server-print": { type: "bool", default: true },
    raw: { type: "string" },
    watch: {
      type: "bool",
      short: "w",
      forbidden:
        "watching never ends: leave this flag out and call the command again, or use `kubectl wait --timeout=30s`",
    },
    "watch-only": { type: "bool", forbidden: "watching never ends: leave this flag out and call the command again" },
    "output-watch-events": { type: "bool" },
  },
  async run(context) {
    const { flags } = context;
    if (flags.string("raw")) return raw(context, flags.string("raw"));
    const { format } = outputFormat(context);
    if (format !== "" && format !== "wide") objectPrinter(context);
    let targets: Target[];
    if (flags.list("filename").length > 0) {
      const manifests = await loadManifests(context);
      targets = manifests.map((m) => ({ resource: m.resource, name: m.object.metadata?.name }));
    } else {
      if (context.args.length === 0)
        throw new KubectlError(
          `You must specify the type of resource to get. Use "kubectl api-resources" for a complete list of supported resources.\n\n${NO_TYPE}\nUse "kubectl explain <resource>" for a detailed description of that resource (e.g. kubectl explain pods).\nSee 'kubectl get -h' for help and examples`,
        );
      targets = await selectTargets(context, context.args);
    }
    if (format === "" || format === "wide") await printTables(context, targets);
    else await printObjects(context, targets);
  },
};
