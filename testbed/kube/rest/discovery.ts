/** What resources there are: aggregated discovery and the older documents. */
import { createHash } from "node:crypto";
import type { ResourceInfo } from "../resources.js";
import type { ApiServer } from "../server.js";

/** Groups as a real server orders them; others follow by name. */
function groups(server: ApiServer): Map<string, Map<string, ResourceInfo[]>> {
  const out = new Map<string, Map<string, ResourceInfo[]>>();
  for (const info of server.registry.all()) {
    if (info.group === "metrics.k8s.io" && server.usage === undefined) continue;
    let versions = out.get(info.group);
    if (versions === undefined) {
      versions = new Map();
      out.set(info.group, versions);
    }
    const list = versions.get(info.version);
    if (list) list.push(info);
    else versions.set(info.version, [info]);
  }
  for (const [group, versions] of out) out.set(group, new Map([...versions].sort(([a], [b]) => rank(b) - rank(a))));
  return out;
}

/** Clients prefer stable versions to beta and alpha ones, and newer ones to older. */
function rank(version: string): number {
  const [, major = "0", stage, minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  const stability = stage === undefined ? 2 : stage === "beta" ? 1 : 0;
  return stability * 1e6 + Number(major) * 1e3 + Number(minor);
}

function aggregatedResource(info: ResourceInfo): object {
  return {
    resource: info.resource,
    responseKind: { group: info.group, version: info.version, kind: info.kind },
    scope: info.namespaced ? "Namespaced" : "Cluster",
    singularResource: info.singular,
    verbs: info.verbs,
    ...(info.shortNames.length > 0 ? { shortNames: info.shortNames } : {}),
    ...(info.categories.length > 0 ? { categories: info.categories } : {}),
    ...(info.subresources.size > 0
      ? {
          subresources: [...info.subresources.values()].map((s) => ({
            subresource: s.name,
            responseKind: { group: s.kind[0], version: s.kind[1], kind: s.kind[2] },
            verbs: s.verbs,
          })),
        }
      : {}),
  };
}

/** APIGroupDiscoveryList of the core group or of the others. */
export function aggregatedDiscovery(server: ApiServer, core: boolean): object {
  const items = [...groups(server)]
    .filter(([group]) => (group === "") === core)
    .map(([group, versions]) => ({
      metadata: group === "" ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: [...versions].map(([version, list]) => ({
        version,
        resources: list.map(aggregatedResource),
        freshness: "Current",
      })),
    }));
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function groupDocument(group: string, versions: string[]): object {
  const list = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: list, preferredVersion: list[0] };
}

/** GET /apis */
export function groupList(server: ApiServer): object {
  const list = [...groups(server)].filter(([group]) => group !== "");
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: list.map(([group, v]) => groupDocument(group, [...v.keys()])),
  };
}

/** GET /apis/GROUP; undefined for a group that is not served. */
export function groupOf(server: ApiServer, group: string): object | undefined {
  const versions = groups(server).get(group);
  return versions && { kind: "APIGroup", apiVersion: "v1", ...groupDocument(group, [...versions.keys()]) };
}

/** GET /api */
export function coreVersions(): object {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "192.168.0.1:6443" }],
  };
}

/** Tells clients, in eight bytes, in which form a resource is stored. */
function storageVersionHash(server: ApiServer, info: ResourceInfo): string {
  const { group, version, kind } = server.registry.stored(info.key) ?? info;
  return createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64");
}

/** GET /api/v1 and /apis/GROUP/VERSION; undefined when it is not served. */
export function resourceList(server: ApiServer, group: string, version: string): object | undefined {
  const list = groups(server).get(group)?.get(version);
  if (list === undefined) return undefined;
  const resources = list.flatMap((info) => [
    {
      name: info.resource,
      singularName: info.singular,
      namespaced: info.namespaced,
      kind: info.kind,
      verbs: info.verbs,
      ...(info.shortNames.length > 0 ? { shortNames: info.shortNames } : {}),
      ...(info.categories.length > 0 ? { categories: info.categories } : {}),
      ...(info.verbs.includes("list") ? { storageVersionHash: storageVersionHash(server, info) } : {}),
    },
    ...[...info.subresources.values()].map((s) => ({
      name: `${info.resource}/${s.name}`,
      singularName: "",
      namespaced: info.namespaced,
      ...(s.kind[0] !== group || s.kind[1] !== version ? { group: s.kind[0], version: s.kind[1] } : {}),
      kind: s.kind[2],
      verbs: s.verbs,
    })),
  ]);
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources,
  };
}
