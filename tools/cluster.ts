/** Reads the cluster's objects for tools that work with them as data. Values of Secrets are never read. */
import { type ToolContext, ToolFailure } from "./context.js";
import {
  ApiError,
  Discovery,
  errorText,
  MAX_READ_BYTES,
  type Resource,
  RestClient,
  resourcePath,
} from "./kubectl/index.js";

/** An object as the API server sends it, with apiVersion and kind. */
export type KubeObject = any;

export interface ClusterReader {
  /** What the server has; the preferred version of each kind only. */
  resources(): Promise<Resource[]>;
  /**
   * Objects of one kind (`deployments`, `networkpolicies`, ...) in a namespace; of the whole cluster without one. Of
   * Secrets, metadata only. Empty where the server has no such kind, or does not let it be read (see `unread`).
   *
   * @throws ToolFailure when the server does not answer
   */
  list(kind: string, namespace?: string): Promise<KubeObject[]>;
  /** Kinds that exist but could not be read, with the reason. */
  readonly unread: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

const PAGE = 500;
const METADATA_ONLY =
  "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1";

/** A reader for one use of a tool: what it has listed it does not ask for again. */
export function createClusterReader(context: ToolContext): ClusterReader {
  const client = new RestClient({
    kubeconfig: context.endpoints.kubeconfig,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
    wall: (method) => {
      throw new ToolFailure(`${method} is not allowed: this tool only reads`);
    },
  });
  const discovery = new Discovery(client);
  const unread = new Map<string, string>();
  const listed = new Map<string, Promise<KubeObject[]>>();
  const budget = { left: MAX_READ_BYTES };

  async function read(kind: string, namespace: string | undefined): Promise<KubeObject[]> {
    const resource = (await answered(discovery.resources(), context)).find(
      (one) => one.name === kind || `${one.name}.${one.group}` === kind,
    );
    if (resource === undefined || !resource.verbs.includes("list")) return [];
    const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
    const secret = resource.name === "secrets" && resource.group === "";
    const items: KubeObject[] = [];
    let next: string | undefined;
    do {
      let page: any;
      try {
        page = await client.json({
          path: resourcePath(resource, namespace),
          budget,
          query: { limit: String(PAGE), continue: next },
          ...(secret ? { accept: METADATA_ONLY } : {}),
        });
      } catch (error) {
        if (!(error instanceof ApiError)) return answered(Promise.reject(error), context);
        unread.set(kind, error.reason || error.message);
        return items;
      }
      for (const item of page.items ?? []) {
        items.push(
          secret
            ? { apiVersion, kind: resource.kind, metadata: item.metadata }
            : { ...item, apiVersion, kind: resource.kind },
        );
      }
      next = page.metadata?.continue || undefined;
    } while (next);
    return items;
  }

  return {
    resources: async () => {
      const seen = new Set<string>();
      return (await answered(discovery.resources(), context)).filter((one) => {
        const key = `${one.name}.${one.group}`;
        return !seen.has(key) && seen.add(key);
      });
    },
    list: (kind, namespace) => {
      const key = `${kind} ${namespace ?? ""}`;
      const found = listed.get(key) ?? read(kind, namespace);
      listed.set(key, found);
      return found;
    },
    unread,
    close: () => client.close(),
  };
}

/** Uses a reader, and closes it. */
export async function withCluster<T>(context: ToolContext, use: (cluster: ClusterReader) => Promise<T>): Promise<T> {
  const cluster = createClusterReader(context);
  try {
    return await use(cluster);
  } finally {
    await cluster.close();
  }
}

/** @throws ToolFailure for an error of the server or on the way to it */
async function answered<T>(promise: Promise<T>, context: ToolContext): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (context.signal?.aborted || error instanceof ToolFailure) throw error;
    throw new ToolFailure(errorText(error).replace(/^error: /, ""));
  }
}

/** `namespace/Kind/name`; cluster-wide objects have an empty namespace. */
export function entityName(object: KubeObject): string {
  return `${object.metadata?.namespace ?? ""}/${object.kind}/${object.metadata?.name}`;
}

/** The namespaces to look at: the one asked for, else the scenario's. */
export function chosenNamespaces(context: ToolContext, namespace: string | undefined): readonly string[] {
  return namespace === undefined ? context.namespaces : [namespace];
}

/** Does a label selector (matchLabels and matchExpressions, or a Service's plain map) choose these labels? */
export function selects(selector: any, labels: Readonly<Record<string, string>> | undefined): boolean {
  if (selector === undefined || selector === null) return false;
  const structured = "matchLabels" in selector || "matchExpressions" in selector;
  const wanted: Record<string, string> = (structured ? selector.matchLabels : selector) ?? {};
  const expressions: { key: string; operator: string; values?: string[] }[] = structured
    ? (selector.matchExpressions ?? [])
    : [];
  if (!structured && Object.keys(wanted).length === 0) return false;
  const of = (key: string) => labels?.[key];
  return (
    Object.entries(wanted).every(([key, value]) => of(key) === value) &&
    expressions.every(({ key, operator, values = [] }) => {
      const value = of(key);
      if (operator === "In") return value !== undefined && values.includes(value);
      if (operator === "NotIn") return value === undefined || !values.includes(value);
      return operator === "Exists" ? value !== undefined : value === undefined;
    })
  );
}
