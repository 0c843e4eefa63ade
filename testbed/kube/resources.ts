/** The resources that a server has: those of the schema table and, as they are defined, custom ones. */

import type { KindRules } from "./kinds/rules.js";
import type { KubeObject } from "./objects.js";
import type { Type } from "./schema/types.js";

export interface Subresource {
  name: string;
  verbs: string[];
  kind: [group: string, version: string, kind: string];
}

export interface ResourceInfo {
  group: string;
  version: string;
  /** Plural. */
  resource: string;
  kind: string;
  singular: string;
  namespaced: boolean;
  verbs: string[];
  shortNames: string[];
  categories: string[];
  subresources: Map<string, Subresource>;
  /** Name of the resource in the store: plural and group, those of the stored version. */
  key: string;
  type: Type;
  rules: KindRules;
  /** Between this version and the stored one, where they differ. */
  toStorage?(object: any): any;
  fromStorage?(object: any): any;
  /** Of a custom resource: its definition and the version's entry. */
  definition?: KubeObject;
  definedVersion?: any;
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(info: { group: string; version: string }): string {
  return info.group === "" ? info.version : `${info.group}/${info.version}`;
}

export class Registry {
  #byPath = new Map<string, ResourceInfo>();
  #byKind = new Map<string, ResourceInfo>();
  #stored = new Map<string, ResourceInfo>();
  /** Changes with each resource that comes or goes; documents made of it can be kept as long as it stays. */
  revision = 0;

  /** @param stored whether objects are kept in this version */
  add(info: ResourceInfo, stored: boolean): void {
    this.revision++;
    this.#byPath.set(`${info.group}/${info.version}/${info.resource}`, info);
    this.#byKind.set(`${info.group}/${info.version}/${info.kind}`, info);
    if (stored) this.#stored.set(info.key, info);
  }

  remove(group: string, resource: string): void {
    this.revision++;
    for (const [path, info] of [...this.#byPath]) {
      if (info.group !== group || info.resource !== resource) continue;
      this.#byPath.delete(path);
      this.#byKind.delete(`${info.group}/${info.version}/${info.kind}`);
      this.#stored.delete(info.key);
    }
  }

  byPath(group: string, version: string, resource: string): ResourceInfo | undefined {
    return this.#byPath.get(`${group}/${version}/${resource}`);
  }
  byKind(group: string, version: string, kind: string): ResourceInfo | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`);
  }
  /** The stored version of `pods`, `deployments.apps`. */
  stored(key: string): ResourceInfo | undefined {
    return this.#stored.get(key);
  }
  all(): ResourceInfo[] {
    return [...this.#byPath.values()];
  }
  hasVersion(group: string, version: string): boolean {
    for (const info of this.#byPath.values()) if (info.group === group && info.version === version) return true;
    return false;
  }
  hasGroup(group: string): boolean {
    for (const info of this.#byPath.values()) if (info.group === group) return true;
    return false;
  }
}
