/** `kubectl scale`. */
import { MERGE_PATCH } from "../client/rest.js";
import type { Verb } from "../context.js";
import { KubectlError, plainMessage, usageError } from "../errors.js";
import { FILENAME, OUTPUT, SELECTOR, WRITING } from "./flag-sets.js";
import { dryRun, eachObject, objectPath, printOutcome, targetsOf, writeQuery } from "./writing.js";

export const scale: Verb = {
  name: ["scale"],
  access: "write",
  flags: {
    ...SELECTOR,
    ...FILENAME,
    ...OUTPUT,
    ...WRITING,
    replicas: { type: "int" },
    "current-replicas": { type: "int", default: -1 },
    "resource-version": { type: "string" },
    all: { type: "bool" },
    timeout: { type: "duration", default: "0s" },
  },
  async run(context) {
    const { flags } = context;
    if (!flags.has("replicas")) throw usageError('required flag(s) "replicas" not set');
    if (flags.int("replicas") < 0)
      throw usageError("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0");
    const { found, errors } = await targetsOf(context, context.args);
    if (found.length === 0) {
      if (errors.length > 0)
        throw new KubectlError(`error: no objects passed to scale ${errors.map(plainMessage).join(", ")}`);
      throw usageError("no objects passed to scale");
    }
    await eachObject(context, found, errors, async (item) => {
      const wanted = flags.int("current-replicas");
      if (wanted >= 0) {
        const current = await context.client.json({ path: objectPath(item.resource, item.object, "scale") });
        const actual = current.spec?.replicas ?? 0;
        if (actual !== wanted) throw usageError(`Expected replicas to be ${wanted}, was ${actual}`);
      }
      if (dryRun(context) !== "client")
        await context.client.json({
          method: "PATCH",
          path: objectPath(item.resource, item.object, "scale"),
          contentType: MERGE_PATCH,
          body: { spec: { replicas: flags.int("replicas") } },
          query: writeQuery(context, "kubectl"),
        });
      const shown =
        flags.string("output") && dryRun(context) === "none"
          ? await context.client.json({ path: objectPath(item.resource, item.object) })
          : item.object;
      printOutcome(context, item.resource, shown, "scaled");
    });
  },
};
