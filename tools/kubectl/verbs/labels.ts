/** `kubectl label` and `kubectl annotate`. */
import { MERGE_PATCH } from "../client/rest.js";
import type { Context, Verb } from "../context.js";
import { usageError } from "../errors.js";
import { compactJson } from "../printers/json.js";
import { ALL_NAMESPACES, FILENAME, OUTPUT, SELECTOR, WRITING } from "./flag-sets.js";
import { dryRun, eachObject, patchObject, printOutcome, splitChanges, targetsOf } from "./writing.js";

const FLAGS = {
  ...SELECTOR,
  ...ALL_NAMESPACES,
  ...FILENAME,
  ...OUTPUT,
  ...WRITING,
  "field-selector": { type: "string" },
  overwrite: { type: "bool" },
  all: { type: "bool" },
  list: { type: "bool" },
  local: { type: "bool" },
  "resource-version": { type: "string" },
} as const;

function checkLabelValue(key: string, value: string): void {
  if (value === "" || /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(value)) return;
  const why =
    value.length > 63
      ? "must be no more than 63 characters"
      : "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  throw usageError(`invalid label value: "${key}=${value}": ${why}`);
}

async function change(context: Context, field: "labels" | "annotations"): Promise<void> {
  const { flags } = context;
  const word = field === "labels" ? "label" : "annotation";
  const { resources, set, remove, order } = splitChanges(context.args);
  if (resources.length === 0 && flags.list("filename").length === 0)
    throw usageError("one or more resources must be specified as <resource> <name> or <resource>/<name>");
  if (set.size === 0 && remove.length === 0 && !flags.bool("list"))
    throw usageError(`at least one ${word} update is required`);
  const both = remove.find((key) => set.has(key));
  if (both !== undefined)
    throw usageError(
      field === "labels"
        ? "can not both modify and remove a label in the same command"
        : `can not both modify and remove the following annotation(s) in the same command: ${both}`,
    );
  if (field === "labels") for (const [key, value] of set) checkLabelValue(key, value);
  const { found, errors } = await targetsOf(context, resources);
  await eachObject(context, found, errors, async (item) => {
    const old: Record<string, string> = item.object.metadata?.[field] ?? {};
    if (flags.bool("list")) {
      const several = found.length > 1;
      if (several)
        context.out(
          `Listing ${field} for ${item.resource.kind}${item.resource.group ? `.${item.resource.group}` : ""}/${item.object.metadata.name}:\n`,
        );
      for (const key of Object.keys(old).sort()) context.out(`${several ? " " : ""}${key}=${old[key]}\n`);
      return;
    }
    if (!flags.bool("overwrite")) {
      const clashes = order
        .filter((key) => key in old && old[key] !== set.get(key))
        .map((key) => `'${key}' already has a value (${old[key]})`);
      if (clashes.length > 0 && field === "labels") {
        const texts = clashes.map((text) => `${text}, and --overwrite is false`);
        throw usageError(texts.length === 1 ? (texts[0] as string) : `[${texts.join(", ")}]`);
      }
      if (clashes.length > 0)
        throw usageError(`--overwrite is false but found the following declared annotation(s): ${clashes.join("; ")}`);
    }
    const next: Record<string, string> = { ...old, ...Object.fromEntries(set) };
    for (const key of remove) {
      if (!(key in old) && field === "labels") context.out(`label "${key}" not found.\n`);
      delete next[key];
    }
    const patch = Object.fromEntries([
      ...[...set].filter(([key, value]) => old[key] !== value),
      ...remove.filter((key) => key in old).map((key) => [key, null] as const),
    ]);
    let after = { ...item.object, metadata: { ...item.object.metadata, [field]: next } };
    if (Object.keys(patch).length > 0 && dryRun(context) !== "client")
      after = await patchObject(context, item, {
        body: { metadata: { [field]: patch } },
        contentType: MERGE_PATCH,
        manager: field === "labels" ? "kubectl-label" : "kubectl-annotate",
      });
    let message = "annotated";
    if (field === "labels") {
      const [before, now] = [compactJson(old), compactJson(next)];
      message =
        before === now
          ? "not labeled"
          : !flags.bool("overwrite") && now.length < before.length
            ? "unlabeled"
            : "labeled";
    }
    printOutcome(context, item.resource, after, message);
  });
}

export const label: Verb = {
  name: ["label"],
  access: "write",
  flags: FLAGS,
  run: (context) => change(context, "labels"),
};
export const annotate: Verb = {
  name: ["annotate"],
  access: "write",
  flags: FLAGS,
  run: (context) => change(context, "annotations"),
};
