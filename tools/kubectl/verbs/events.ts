/** `kubectl events`. */
import { listObjects, selectTargets } from "../client/select.js";
import type { Verb } from "../context.js";
import { eventInterval } from "../describe/common.js";
import { usageError } from "../errors.js";
import { listOf, objectPrinter, outputFormat } from "../printers/output.js";
import { printTabs } from "../printers/table.js";
import { ALL_NAMESPACES, OUTPUT } from "./flag-sets.js";

function time(event: any): number {
  if (event.series?.lastObservedTime) return Date.parse(event.series.lastObservedTime);
  return Date.parse(event.lastTimestamp ?? event.eventTime ?? "") || 0;
}

export const events: Verb = {
  name: ["events"],
  access: "read",
  flags: {
    ...ALL_NAMESPACES,
    ...OUTPUT,
    for: { type: "string" },
    types: { type: "csv" },
    "no-headers": { type: "bool" },
    "chunk-size": { type: "int", default: 500 },
    watch: {
      type: "bool",
      short: "w",
      forbidden: "watching never ends: leave this flag out and call the command again",
    },
  },
  async run(context) {
    const { flags } = context;
    if (context.args.length > 0) throw usageError(`unknown command "${context.args[0]}" for "kubectl events"`);
    for (const type of flags.list("types"))
      if (!/^(normal|warning)$/i.test(type)) throw usageError("valid --types are Normal or Warning");
    const resource = await context.discovery.resolve("events");
    let fieldSelector = "";
    if (flags.string("for")) {
      const [target] = await selectTargets(context, [flags.string("for")]);
      if (!target?.name) throw usageError("--for must be in resource/name form");
      fieldSelector = `involvedObject.kind=${target.resource.kind},involvedObject.name=${target.name}`;
    }
    let list = await listObjects(context, resource, { fieldSelector });
    const types = flags.list("types").map((t) => t.toLowerCase());
    if (types.length > 0) list = list.filter((e) => types.includes(String(e.type).toLowerCase()));
    list = list
      .map((e, i) => ({ e, i }))
      .sort((a, b) => time(a.e) - time(b.e) || a.i - b.i)
      .map(({ e }) => e);
    const { format } = outputFormat(context);
    if (list.length === 0) {
      context.err(
        context.allNamespaces ? "No events found.\n" : `No events found in ${context.namespace} namespace.\n`,
      );
      return;
    }
    if (format !== "" && format !== "wide") {
      context.out(objectPrinter(context)(listOf(list), ""));
      return;
    }
    const now = context.now();
    const lines = list.map((e) => {
      const cells = [
        eventInterval(e, now),
        e.type,
        e.reason,
        `${e.involvedObject?.kind}/${e.involvedObject?.name}`,
        String(e.message ?? "").trim(),
      ];
      return (context.allNamespaces ? [e.metadata?.namespace, ...cells] : cells).join("\t");
    });
    if (!flags.bool("no-headers"))
      lines.unshift(
        [...(context.allNamespaces ? ["NAMESPACE"] : []), "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"].join(
          "\t",
        ),
      );
    context.out(printTabs(lines));
  },
};
