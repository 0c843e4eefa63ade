/** `kubectl apply`, `create -f`, `replace`, all from a manifest on standard input. */
import { groupVersion, qualifiedName, type Resource, resourcePath } from "../client/discovery.js";
import { gvkText, loadManifests, type Manifest } from "../client/manifest.js";
import { APPLY_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from "../client/rest.js";
import { mergeSchema, threeWayPatch } from "../client/strategic.js";
import type { Context, Verb } from "../context.js";
import { ApiError, KubectlError, usageError } from "../errors.js";
import { compactJson, printJson } from "../printers/json.js";
import { printYaml } from "../printers/yaml.js";
import { maskSecrets } from "../secrets.js";
import { ALL_NAMESPACES, FILENAME, OUTPUT, SELECTOR, WRITING } from "./flag-sets.js";
import { dryRun, printOutcome, targetsOf, writeQuery } from "./writing.js";

export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

function gvrText(resource: Resource): string {
  return `${resource.group ? groupVersion(resource) : `/${resource.version}`}, Resource=${resource.name}`;
}

function describeTarget(manifest: Manifest): string {
  return `Resource: "${gvrText(manifest.resource)}", GroupVersionKind: "${gvkText(manifest.resource)}"\nName: "${manifest.object.metadata?.name ?? ""}", Namespace: "${manifest.namespace ?? ""}"`;
}

/** The manifest as it will be remembered in the object. */
function remembered(object: any): { text: string; object: any } {
  const { [LAST_APPLIED]: _, ...annotations } = object.metadata?.annotations ?? {};
  const plain = { ...object, metadata: { ...object.metadata, annotations } };
  const text = `${compactJson(plain)}\n`;
  return {
    text,
    object: { ...plain, metadata: { ...plain.metadata, annotations: { ...annotations, [LAST_APPLIED]: text } } },
  };
}

async function createObject(context: Context, manifest: Manifest, object: any, manager: string): Promise<any> {
  if (dryRun(context) === "client") return object;
  try {
    return await context.client.json({
      method: "POST",
      path: resourcePath(manifest.resource, manifest.namespace),
      body: object,
      query: writeQuery(context, manager, { validate: true }),
    });
  } catch (error) {
    if (error instanceof ApiError) error.prefix = 'error when creating "STDIN": ';
    throw error;
  }
}

async function applyOne(context: Context, manifest: Manifest): Promise<void> {
  const { resource, namespace } = manifest;
  const name = manifest.object.metadata?.name;
  if (!name)
    throw usageError(
      `error when retrieving current configuration of:\n${describeTarget(manifest)}\nfrom server for: "STDIN": resource name may not be empty`,
    );
  const path = resourcePath(resource, namespace, name);
  if (context.flags.bool("server-side")) return applyServerSide(context, manifest, path);
  const modified = remembered(manifest.object);
  let current: any;
  try {
    current = await context.client.json({ path });
  } catch (error) {
    if (!(error instanceof ApiError && error.notFound)) throw error;
    const created = await createObject(context, manifest, modified.object, "kubectl-client-side-apply");
    printOutcome(context, resource, created, "created");
    return;
  }
  const last = current.metadata?.annotations?.[LAST_APPLIED];
  if (last === undefined && dryRun(context) !== "client")
    context.err(
      `Warning: resource ${resource.name}/${name} is missing the ${LAST_APPLIED} annotation which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.\n`,
    );
  if (dryRun(context) === "client") {
    printOutcome(context, resource, current, "configured");
    return;
  }
  const original = last === undefined ? {} : JSON.parse(last);
  const schema = await mergeSchema(context, resource);
  const patch = threeWayPatch(original, modified.object, current, schema);
  if (Object.keys(patch).length === 0) {
    printOutcome(context, resource, current, "unchanged");
    return;
  }
  try {
    const after = await context.client.json({
      method: "PATCH",
      path,
      contentType: schema ? STRATEGIC_PATCH : MERGE_PATCH,
      body: patch,
      query: writeQuery(context, "kubectl-client-side-apply", { validate: true }),
    });
    printOutcome(context, resource, after, "configured");
  } catch (error) {
    if (error instanceof ApiError && error.reason !== "Invalid")
      error.prefix = `error when applying patch:\n${compactJson(patch)}\nto:\n${describeTarget(manifest)}\nfor: "STDIN": error when patching "STDIN": `;
    throw error;
  }
}

async function applyServerSide(context: Context, manifest: Manifest, path: string): Promise<void> {
  try {
    const after = await context.client.json({
      method: "PATCH",
      path,
      contentType: APPLY_PATCH,
      body: printYaml(manifest.object),
      query: {
        ...writeQuery(context, "kubectl", { validate: true }),
        force: context.flags.bool("force-conflicts") ? "true" : "false",
      },
    });
    printOutcome(context, manifest.resource, after, "serverside-applied");
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "Conflict") throw error;
    throw usageError(
      `${error.message}\nPlease review the fields above--they currently have other managers. Here\nare the ways you can resolve this warning:\n* If you intend to manage all of these fields, please re-run the apply\n  command with the \`--force-conflicts\` flag.\n* If you do not intend to manage all of the fields, please edit your\n  manifest to remove references to the fields that should keep their\n  current managers.\n* You may co-own fields by updating your manifest to match the existing\n  value; in this case, you'll become the manager if the other manager(s)\n  stop managing the field (remove it from their configuration).\nSee https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts`,
    );
  }
}

/** Runs each manifest; errors of single ones are printed at the end, as kubectl does. */
async function each(context: Context, run: (manifest: Manifest) => Promise<void>): Promise<void> {
  const errors: unknown[] = [];
  for (const manifest of await loadManifests(context)) {
    try {
      await run(manifest);
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof KubectlError)) throw error;
      errors.push(error);
    }
  }
  for (const error of errors) context.fail(error);
}

const NO_FILE = "must specify one of -f and -k";

export const apply: Verb = {
  name: ["apply"],
  access: "write",
  flags: {
    ...SELECTOR,
    ...ALL_NAMESPACES,
    ...FILENAME,
    ...OUTPUT,
    ...WRITING,
    "server-side": { type: "bool" },
    "force-conflicts": { type: "bool" },
    force: { type: "bool" },
    overwrite: { type: "bool", default: true },
    "openapi-patch": { type: "bool", default: true },
    wait: { type: "bool" },
    "grace-period": { type: "int", default: -1 },
    timeout: { type: "duration", default: "0s" },
    cascade: { type: "string", bare: "background" },
    prune: { type: "bool", forbidden: "pruning deletes what a manifest does not name: delete objects by name instead" },
    all: { type: "bool" },
  },
  async run(context) {
    if (context.flags.list("filename").length === 0) throw usageError(NO_FILE);
    await each(context, (manifest) => applyOne(context, manifest));
  },
};

/** `kubectl create -f -`; the generators stand in `create.ts`. */
export async function createFromManifest(context: Context): Promise<void> {
  await each(context, async (manifest) => {
    const object = context.flags.bool("save-config") ? remembered(manifest.object).object : manifest.object;
    printOutcome(
      context,
      manifest.resource,
      await createObject(context, manifest, object, "kubectl-create"),
      "created",
    );
  });
}

export const replace: Verb = {
  name: ["replace"],
  access: "write",
  flags: {
    ...FILENAME,
    ...OUTPUT,
    ...WRITING,
    force: { type: "bool" },
    "save-config": { type: "bool" },
    cascade: { type: "string", bare: "background" },
    "grace-period": { type: "int", default: -1 },
    timeout: { type: "duration", default: "0s" },
    wait: { type: "bool" },
    subresource: { type: "string" },
  },
  async run(context) {
    if (context.flags.list("filename").length === 0) throw usageError("must specify --filename or --kustomize");
    await each(context, async (manifest) => {
      const { resource, namespace, object } = manifest;
      const name = object.metadata?.name;
      const path = resourcePath(resource, namespace, name, context.flags.string("subresource") || undefined);
      if (dryRun(context) === "client") return printOutcome(context, resource, object, "replaced");
      try {
        if (context.flags.bool("force")) {
          await context.client
            .json({
              method: "DELETE",
              path,
              body: { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0, propagationPolicy: "Background" },
            })
            .then(
              () =>
                context.out(
                  `${qualifiedName(resource) === resource.name ? resource.singular || resource.kind.toLowerCase() : `${resource.kind.toLowerCase()}.${resource.group}`} "${name}" deleted\n`,
                ),
              (error) => {
                if (!(error instanceof ApiError && error.notFound)) throw error;
              },
            );
          for (let i = 0; i < 60; i++) {
            const gone = await context.client.json({ path }).then(
              () => false,
              (error) => error instanceof ApiError && error.notFound,
            );
            if (gone) break;
            await context.sleep(1);
          }
          printOutcome(context, resource, await createObject(context, manifest, object, "kubectl-replace"), "replaced");
          return;
        }
        const last = context.flags.bool("save-config") ? remembered(object).object : object;
        const current = await context.client.json({ path });
        const body = last.metadata?.resourceVersion
          ? last
          : { ...last, metadata: { ...last.metadata, resourceVersion: current.metadata.resourceVersion } };
        const after = await context.client.json({
          method: "PUT",
          path,
          body,
          query: writeQuery(context, "kubectl-replace", { validate: true }),
        });
        printOutcome(context, resource, after, "replaced");
      } catch (error) {
        if (error instanceof ApiError) error.prefix ||= 'error when replacing "STDIN": ';
        throw error;
      }
    });
  },
};

const viewLastApplied: Verb = {
  name: ["apply", "view-last-applied"],
  access: "read",
  flags: { ...SELECTOR, ...FILENAME, output: { type: "string", short: "o", default: "yaml" }, all: { type: "bool" } },
  async run(context) {
    const { found, errors } = await targetsOf(context, context.args);
    for (const { object } of found) {
      const text = object.metadata?.annotations?.[LAST_APPLIED];
      if (text === undefined)
        throw usageError(`no last-applied-configuration annotation found on resource: ${object.metadata.name}`);
      const { kind, apiVersion } = object;
      const value = context.maskSecrets ? maskSecrets({ ...JSON.parse(text), kind, apiVersion }) : JSON.parse(text);
      context.out(context.flags.string("output") === "json" ? printJson(value) : printYaml(value));
    }
    for (const error of errors) context.fail(error);
  },
};

export const manifestVerbs: readonly Verb[] = [apply, viewLastApplied, replace];
