/** `kubectl wait`. */
import { qualifiedName, resourcePath } from "../client/discovery.js";
import { type Found, fetchObjects, selectTargets } from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { ApiError, usageError } from "../errors.js";
import { JsonPath, JsonPathError, relaxed } from "../printers/jsonpath.js";
import { ALL_NAMESPACES, FILENAME, OUTPUT, SELECTOR } from "./flag-sets.js";
import { printOutcome, targetsOf } from "./writing.js";

type Test = (object: any) => boolean;

interface Condition {
  kind: "delete" | "create" | "test";
  test: Test;
}

function conditionOf(text: string): Condition {
  if (text.toLowerCase() === "delete") return { kind: "delete", test: () => false };
  if (text.toLowerCase() === "create") return { kind: "create", test: () => true };
  const condition = /^condition=([^=]+)(?:=(.*))?$/s.exec(text);
  if (condition) {
    const [, type, value = "true"] = condition as unknown as [string, string, string | undefined];
    return {
      kind: "test",
      test: (object) => {
        const found = (object.status?.conditions ?? []).find(
          (c: any) => String(c.type).toLowerCase() === type.toLowerCase(),
        );
        if (!found || String(found.status).toLowerCase() !== value.toLowerCase()) return false;
        // What was said of an older specification does not count.
        const observed = found.observedGeneration ?? object.status?.observedGeneration;
        return observed === undefined || observed >= (object.metadata.generation ?? 0);
      },
    };
  }
  const path = /^jsonpath=(\{.*\}|'\{.*\}'|[^=]+)(?:=(.*))?$/s.exec(text);
  if (path) {
    let query: JsonPath;
    try {
      query = new JsonPath(relaxed((path[1] as string).replace(/^'|'$/g, "")), { allowMissing: true });
    } catch (error) {
      if (error instanceof JsonPathError) throw usageError(error.message);
      throw error;
    }
    const wanted = path[2]?.replace(/^['"]|['"]$/g, "");
    return {
      kind: "test",
      test: (object) => {
        const values = query.values(object);
        return (
          values.length > 0 &&
          (wanted === undefined ? values[0] !== null : values.length === 1 && String(values[0]) === wanted)
        );
      },
    };
  }
  throw usageError(`unrecognized condition: ${JSON.stringify(text)}`);
}

export const wait: Verb = {
  name: ["wait"],
  access: "read",
  flags: {
    ...SELECTOR,
    ...ALL_NAMESPACES,
    ...FILENAME,
    ...OUTPUT,
    "field-selector": { type: "string" },
    all: { type: "bool" },
    for: { type: "list" },
    local: { type: "bool" },
    timeout: { type: "duration", default: "30s" },
  },
  async run(context) {
    const { flags } = context;
    const conditions = flags.list("for").map(conditionOf);
    if (conditions.length === 0) throw usageError('unrecognized condition: ""');
    const timeout = flags.duration("timeout");
    const limit = timeout < 0 ? 600 : timeout;
    let waited = 0;
    for (const condition of conditions) {
      let { found, errors } = await load(context);
      while (condition.kind === "create" && errors.some((e) => e instanceof ApiError && e.notFound) && waited < limit) {
        await context.sleep(1);
        waited++;
        ({ found, errors } = await load(context));
      }
      if (condition.kind === "delete") errors = errors.filter((e) => !(e instanceof ApiError && e.notFound));
      if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
      if (found.length === 0) {
        if (condition.kind === "delete") continue;
        throw usageError("no matching resources found");
      }
      for (const item of found) waited = await until(context, item, condition, waited, limit);
    }
  },
};

async function load(context: Context): Promise<{ found: Found[]; errors: unknown[] }> {
  if (context.flags.list("filename").length > 0) return targetsOf(context, []);
  return fetchObjects(context, await selectTargets(context, context.args, { needName: true }));
}

async function until(
  context: Context,
  item: Found,
  condition: Condition,
  from: number,
  limit: number,
): Promise<number> {
  let object = item.object;
  const { name, namespace, uid } = object.metadata;
  for (let waited = from; ; waited++) {
    if (condition.kind !== "delete" && condition.test(object)) {
      printOutcome(context, item.resource, object, "condition met");
      return waited;
    }
    if (waited >= limit) {
      context.fail(
        usageError(`timed out waiting for the condition on ${qualifiedName(item.resource).split(".")[0]}/${name}`),
      );
      return waited;
    }
    await context.sleep(1);
    try {
      object = await context.client.json({ path: resourcePath(item.resource, namespace, name) });
      if (condition.kind === "delete" && object.metadata.uid !== uid)
        throw new ApiError({ code: 404, reason: "NotFound" });
    } catch (error) {
      if (!(error instanceof ApiError && error.notFound)) throw error;
      if (condition.kind === "delete") {
        printOutcome(context, item.resource, item.object, "condition met");
        return waited;
      }
      context.fail(error);
      return waited;
    }
  }
}
