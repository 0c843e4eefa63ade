/** Which resources the server has, and what a word such as `deploy`, `svc` or `deployments.v1.apps` means. */
import { ApiError, usageError } from "../errors.js";
import type { RestClient } from "./rest.js";

export interface Resource {
  /** Empty for the core group. */
  group: string;
  version: string;
  /** Plural: `deployments`. */
  name: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  shortNames: string[];
  categories: string[];
  verbs: string[];
  subresources: string[];
}

const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/** `apps/v1`, or `v1` for the core group. */
export function groupVersion(resource: { group: string; version: string }): string {
  return resource.group ? `${resource.group}/${resource.version}` : resource.version;
}

/** `deployments.apps`, or `pods`. */
export function qualifiedName(resource: Resource): string {
  return resource.group ? `${resource.name}.${resource.group}` : resource.name;
}

/** `deployment.apps`, as kubectl puts it before a name. */
export function kindPrefix(resource: { kind: string; group: string }): string {
  const kind = resource.kind.toLowerCase();
  return resource.group ? `${kind}.${resource.group}` : kind;
}

/** @throws KubectlError for names that cannot be one segment of a path */
export function resourcePath(resource: Resource, namespace?: string, name?: string, subresource?: string): string {
  for (const segment of [namespace, name])
    if (segment !== undefined && /^\.{1,2}$|[/%]/.test(segment))
      throw usageError(`invalid resource name "${segment}": [may not be '.' or '..', may not contain '/' or '%']`);
  const root = resource.group ? `/apis/${resource.group}/${resource.version}` : `/api/${resource.version}`;
  const scope = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${scope}/${resource.name}${name === undefined ? "" : `/${encodeURIComponent(name)}`}${subresource ? `/${subresource}` : ""}`;
}

export class Discovery {
  private readonly client: RestClient;
  private loaded: Promise<Resource[]> | undefined;

  constructor(client: RestClient) {
    this.client = client;
  }

  /** All resources: groups in the server's order, the preferred version of each group first. */
  resources(): Promise<Resource[]> {
    this.loaded ??= this.load().catch((error) => {
      this.loaded = undefined;
      throw error;
    });
    return this.loaded;
  }

  private async load(): Promise<Resource[]> {
    const [core, groups] = await Promise.all(
      ["/api", "/apis"].map((path) => this.client.json({ path, accept: AGGREGATED })),
    );
    return [...(await this.read(core)), ...(await this.read(groups))];
  }

  private async read(document: any): Promise<Resource[]> {
    if (document?.kind === "APIGroupDiscoveryList")
      return (document.items ?? []).flatMap((group: any) =>
        (group.versions ?? []).flatMap((version: any) =>
          (version.resources ?? []).map(
            (r: any): Resource => ({
              group: group.metadata?.name ?? "",
              version: version.version,
              name: r.resource,
              singular: r.singularResource ?? "",
              kind: r.responseKind?.kind ?? "",
              namespaced: r.scope === "Namespaced",
              shortNames: r.shortNames ?? [],
              categories: r.categories ?? [],
              verbs: r.verbs ?? [],
              subresources: (r.subresources ?? []).map((s: any) => s.subresource),
            }),
          ),
        ),
      );
    // Servers from before aggregated discovery: one more request for each group version.
    const versions: { group: string; version: string; path: string }[] =
      document?.kind === "APIVersions"
        ? (document.versions ?? []).map((version: string) => ({ group: "", version, path: `/api/${version}` }))
        : (document?.groups ?? []).flatMap((group: any) =>
            (group.versions ?? []).map((v: any) => ({
              group: group.name,
              version: v.version,
              path: `/apis/${v.groupVersion}`,
            })),
          );
    const lists = await Promise.all(
      versions.map(async ({ group, version, path }) => {
        const list = await this.client.json({ path }).catch(() => ({ resources: [] }));
        const entries: any[] = list.resources ?? [];
        return entries
          .filter((r) => !r.name.includes("/"))
          .map(
            (r): Resource => ({
              group,
              version,
              name: r.name,
              singular: r.singularName ?? "",
              kind: r.kind,
              namespaced: r.namespaced === true,
              shortNames: r.shortNames ?? [],
              categories: r.categories ?? [],
              verbs: r.verbs ?? [],
              subresources: entries.flatMap((s) => (s.name.startsWith(`${r.name}/`) ? [s.name.split("/")[1]] : [])),
            }),
          );
      }),
    );
    return lists.flat();
  }

  private async look(search: (all: Resource[]) => Resource | undefined): Promise<Resource | undefined> {
    const found = search(await this.resources());
    if (found) return found;
    this.loaded = undefined;
    return search(await this.resources());
  }

  /** The resource that a word means, or undefined. Asks the server again once, for a kind installed meanwhile. */
  async find(word: string): Promise<Resource | undefined> {
    return this.look((all) => pick(all, word));
  }

  /** @throws KubectlError as kubectl words it */
  async resolve(word: string): Promise<Resource> {
    const found = await this.find(word);
    if (!found) throw usageError(`the server doesn't have a resource type "${word}"`);
    return found;
  }

  /** The resource of a manifest's apiVersion and kind. */
  async byKind(apiVersion: string, kind: string): Promise<Resource | undefined> {
    return this.look((all) => all.find((r) => r.kind === kind && groupVersion(r) === apiVersion));
  }

  /** Resources of a category such as `all`, in kubectl's order. */
  async category(name: string): Promise<Resource[]> {
    const seen = new Set<string>();
    return (await this.resources()).filter((r) => {
      if (!r.categories.includes(name) || seen.has(qualifiedName(r))) return false;
      seen.add(qualifiedName(r));
      return true;
    });
  }
}

function pick(all: Resource[], word: string): Resource | undefined {
  const lower = word.toLowerCase();
  const named = (r: Resource, name: string) =>
    r.name === name || r.singular === name || r.kind.toLowerCase() === name || r.shortNames.includes(name);
  const byName = all.filter((r) => r.name === lower || r.singular === lower || r.kind.toLowerCase() === lower);
  if (byName[0]) return byName[0];
  const byShort = all.find((r) => r.shortNames.includes(word));
  if (byShort) return byShort;
  const dot = lower.indexOf(".");
  if (dot < 0) return undefined;
  const name = lower.slice(0, dot);
  const rest = lower.slice(dot + 1);
  // resource.version.group first, then resource.group; a group may be given by its first part (deployments.apps).
  const second = rest.indexOf(".");
  const version = second < 0 ? rest : rest.slice(0, second);
  const group = second < 0 ? "" : rest.slice(second + 1);
  return (
    all.find((r) => named(r, name) && r.version === version && r.group === group) ??
    all.find((r) => named(r, name) && r.group === rest) ??
    all.find((r) => named(r, name) && r.group.startsWith(`${rest}.`))
  );
}

/** True when the error says that the resource or object is not there. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.notFound;
}
