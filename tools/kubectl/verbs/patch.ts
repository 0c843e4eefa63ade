/** `kubectl patch`. */
import { parse } from "yaml";
import type { Resource } from "../client/discovery.js";
import { JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from "../client/rest.js";
import type { Verb } from "../context.js";
import { usageError } from "../errors.js";
import { FILENAME, OUTPUT, WRITING } from "./flag-sets.js";
import { eachObject, patchObject, printOutcome, sameObject, targetsOf } from "./writing.js";

const TYPES: Record<string, string> = { json: JSON_PATCH, merge: MERGE_PATCH, strategic: STRATEGIC_PATCH };

/** The kind that came back: a patch of a subresource answers with another one. */
function answered(resource: Resource, object: any): Resource {
  const [group = "", version] = String(object.apiVersion ?? "").split("/");
  return object.kind && object.kind !== resource.kind
    ? { ...resource, kind: object.kind, group: version ? group : "" }
    : resource;
}

export const patch: Verb = {
  name: ["patch"],
  access: "write",
  flags: {
    ...FILENAME,
    ...OUTPUT,
    ...WRITING,
    patch: { type: "string", short: "p" },
    type: { type: "string", default: "strategic" },
    subresource: { type: "string" },
    local: { type: "bool" },
  },
  async run(context) {
    const { flags } = context;
    const text = flags.string("patch");
    if (text === "") throw usageError("must specify --patch or --patch-file containing the contents of the patch");
    const contentType = TYPES[flags.string("type").toLowerCase()];
    if (!contentType) throw usageError(`--type must be one of [json merge strategic], not "${flags.string("type")}"`);
    let body: unknown;
    try {
      body = parse(text, { version: "1.1" });
    } catch (error) {
      throw usageError(`unable to parse ${JSON.stringify(text)}: yaml: ${(error as Error).message.split("\n")[0]}`);
    }
    const { found, errors } = await targetsOf(context, context.args, {
      what: "must specify resource and name to patch",
    });
    await eachObject(context, found, errors, async (item) => {
      const after = await patchObject(context, item, {
        body: JSON.stringify(body),
        contentType,
        manager: "kubectl-patch",
        ...(flags.string("subresource") ? { subresource: flags.string("subresource") } : {}),
      });
      printOutcome(
        context,
        answered(item.resource, after),
        after,
        sameObject(item.object, after) ? "patched (no change)" : "patched",
      );
    });
  },
};
