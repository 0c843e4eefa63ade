/**
 * Who asks (bearer tokens, impersonation) and what they may do: the roles that the testbed hands out, and the cluster's
 * own RBAC objects. What is not allowed is refused with the message of a real server.
 */

import { forbidden, StatusError } from "../errors.js";
import { stableStringify } from "../json.js";
import type { KindContext } from "../kinds/index.js";
import type { Registry } from "../resources.js";

export interface Identity {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
  /** Rules besides those of RBAC objects. */
  rules: PolicyRule[];
}

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
  /** Resources that the wildcard leaves out. */
  except?: string[];
  /** Only in these namespaces; everywhere when missing. */
  namespaces?: string[];
}

export interface Attributes {
  verb: string;
  group?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  /** Set for requests that are about no resource. */
  path?: string;
}

export interface TokenOptions {
  /**
   * `admin` may do everything; `read-only` reads all but secrets; `read-write` also writes, in `namespaces` only when
   * they are given, and never RBAC objects or the cluster's own (nodes, namespaces ...) unless no namespace limits it.
   */
  role: "admin" | "read-only" | "read-write";
  user?: string;
  namespaces?: string[];
}

const READ = ["get", "list", "watch"];
const WRITE = ["create", "update", "patch", "delete", "deletecollection"];
const RBAC = "rbac.authorization.k8s.io";
/** Doors into a container or past the API: never for the roles handed out. */
const DOORS = [
  "pods/exec",
  "pods/attach",
  "pods/portforward",
  "pods/proxy",
  "services/proxy",
  "nodes/proxy",
  "serviceaccounts/token",
];

function rulesFor({ role, namespaces }: TokenOptions): PolicyRule[] {
  if (role === "admin") return [];
  const read: PolicyRule = { verbs: READ, apiGroups: ["*"], resources: ["*"], except: ["secrets", ...DOORS] };
  if (role === "read-only") return [read];
  const write: PolicyRule = {
    verbs: [...READ, ...WRITE],
    apiGroups: ["*"],
    resources: ["*"],
    except: [
      ...DOORS,
      ...["roles", "rolebindings", "clusterroles", "clusterrolebindings"].map((r) => `${r}.${RBAC}`),
      // A namespace counts as in itself: who may write in one could end it.
      ...(namespaces ? ["namespaces", "namespaces/status", "namespaces/finalize"] : []),
    ],
    ...(namespaces ? { namespaces } : {}),
  };
  return [read, write];
}

export class Access {
  readonly #objects: KindContext & { registry: Registry };
  readonly #tokens = new Map<string, Identity>();

  constructor(objects: KindContext & { registry: Registry }) {
    this.#objects = objects;
  }

  /** Makes `token` valid. */
  addToken(token: string, options: TokenOptions): void {
    const groups = ["system:authenticated"];
    if (options.role === "admin") groups.unshift("system:masters");
    const user =
      options.user ??
      (options.role === "admin"
        ? "kubernetes-admin"
        : options.role === "read-only"
          ? "oncall-viewer"
          : "oncall-operator");
    this.#tokens.set(token, { name: user, groups, rules: rulesFor(options) });
  }

  /** Makes `token` speak for a service account, whose rights are those that RBAC objects give it. */
  addServiceAccount(token: string, namespace: string, name: string): void {
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    this.#tokens.set(token, { name: `system:serviceaccount:${namespace}:${name}`, groups, rules: [] });
  }

  removeToken(token: string): void {
    this.#tokens.delete(token);
  }

  /** Who sent the request. @throws StatusError 401 for an unknown token, 403 for an impersonation that is not allowed */
  identify(headers: Record<string, string | undefined>): Identity {
    const header = headers.authorization;
    let identity: Identity | undefined;
    if (header === undefined || header === "") {
      identity = { name: "system:anonymous", groups: ["system:unauthenticated"], rules: [] };
    } else {
      const token = /^bearer\s+(.+)$/i.exec(header)?.[1]?.trim();
      identity = token === undefined ? undefined : this.#tokens.get(token);
      if (identity === undefined) throw new StatusError(401, "Unauthorized", "Unauthorized");
    }
    const as = headers["impersonate-user"];
    if (as === undefined) {
      if (headers["impersonate-group"] !== undefined) {
        throw new StatusError(
          500,
          "InternalError",
          "Internal error occurred: requested [{Group  system:masters  }] without impersonating a user",
        );
      }
      return identity;
    }
    const target = { group: "", resource: "users" };
    if (!this.allowed(identity, { verb: "impersonate", group: "", resource: "users", name: as })) {
      throw forbidden(
        target,
        as,
        `User "${identity.name}" cannot impersonate resource "users" in API group "" at the cluster scope`,
      );
    }
    const groups = (headers["impersonate-group"] ?? "")
      .split(",")
      .map((g) => g.trim())
      .filter(Boolean);
    const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(as);
    if (groups.length === 0 && account) groups.push("system:serviceaccounts", `system:serviceaccounts:${account[1]}`);
    if (as !== "system:anonymous" && !groups.includes("system:authenticated")) groups.push("system:authenticated");
    return { name: as, groups, rules: [] };
  }

  /** @throws StatusError 403 */
  require(identity: Identity, attributes: Attributes): void {
    if (this.allowed(identity, attributes)) return;
    const { verb, group = "", resource = "", subresource, namespace, name = "", path } = attributes;
    if (path !== undefined) {
      throw new StatusError(403, "Forbidden", `forbidden: User "${identity.name}" cannot ${verb} path "${path}"`, {});
    }
    const scope = namespace ? `in the namespace "${namespace}"` : "at the cluster scope";
    const full = subresource ? `${resource}/${subresource}` : resource;
    throw forbidden(
      { group, resource },
      name,
      `User "${identity.name}" cannot ${verb} resource "${full}" in API group "${group}" ${scope}`,
    );
  }

  allowed(identity: Identity, attributes: Attributes): boolean {
    if (identity.groups.includes("system:masters")) return true;
    for (const rule of identity.rules) if (covers(rule, attributes)) return true;
    for (const { rule, namespace } of this.#bound(identity)) {
      if (namespace !== undefined && namespace !== attributes.namespace) continue;
      if (covers(rule, attributes)) return true;
    }
    return false;
  }

  /** The rules that hold in a namespace, for SelfSubjectRulesReview. */
  rules(identity: Identity, namespace: string): PolicyRule[] {
    const own = identity.rules.filter((r) => r.namespaces === undefined || r.namespaces.includes(namespace));
    const all: PolicyRule[] = [];
    if (identity.groups.includes("system:masters")) {
      all.push({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }, { verbs: ["*"], nonResourceURLs: ["*"] });
    }
    const bound = [...this.#bound(identity)].filter((b) => b.namespace === undefined || b.namespace === namespace);
    // Masters are bound to cluster-admin, too: that says the same again.
    const told = new Set(all.map((rule) => stableStringify(rule)));
    const further = bound.map((b) => b.rule).filter((rule) => !told.has(stableStringify(rule)));
    return [...all, ...own.flatMap((rule) => this.#spelledOut(rule)), ...further];
  }

  /** RBAC knows no exceptions: a rule that has some is told as a list of what it covers, a rule for each group. */
  #spelledOut(rule: PolicyRule): PolicyRule[] {
    const { except, namespaces: _, ...rest } = rule;
    if (except === undefined) return [rest];
    const groups = new Map<string, Set<string>>();
    for (const { group, resource, subresources } of this.#objects.registry.all()) {
      const names = groups.get(group) ?? new Set();
      groups.set(group, names);
      for (const name of [resource, ...[...subresources.keys()].map((s) => `${resource}/${s}`)]) {
        const qualified = group === "" ? name : `${resource}.${group}`;
        if (!except.includes(name) && !except.includes(qualified)) names.add(name);
      }
    }
    return [...groups].map(([group, names]) => ({ ...rest, apiGroups: [group], resources: [...names] }));
  }

  *#bound(identity: Identity): Iterable<{ rule: PolicyRule; namespace: string | undefined }> {
    for (const kind of [`clusterrolebindings.${RBAC}`, `rolebindings.${RBAC}`]) {
      for (const binding of this.#objects.list(kind)) {
        const home = binding.metadata.namespace;
        const mine = (binding.subjects ?? []).some((s: any) =>
          s.kind === "User"
            ? s.name === identity.name
            : s.kind === "Group"
              ? identity.groups.includes(s.name)
              : identity.name === `system:serviceaccount:${s.namespace ?? home}:${s.name}`,
        );
        if (!mine) continue;
        const role =
          binding.roleRef.kind === "Role"
            ? this.#objects.get(`roles.${RBAC}`, home, binding.roleRef.name)
            : this.#objects.get(`clusterroles.${RBAC}`, undefined, binding.roleRef.name);
        for (const rule of role?.rules ?? []) yield { rule, namespace: home };
      }
    }
  }
}

function covers(rule: PolicyRule, a: Attributes): boolean {
  if (!rule.verbs.includes("*") && !rule.verbs.includes(a.verb)) return false;
  if (a.path !== undefined) {
    return (rule.nonResourceURLs ?? []).some((url) =>
      url === "*" ? true : url.endsWith("*") ? a.path!.startsWith(url.slice(0, -1)) : url === a.path,
    );
  }
  if (rule.nonResourceURLs && !rule.resources) return false;
  if (rule.namespaces && !(a.namespace && rule.namespaces.includes(a.namespace))) return false;
  if (!matches(rule.apiGroups, a.group ?? "")) return false;
  const resource = a.subresource ? `${a.resource}/${a.subresource}` : (a.resource ?? "");
  if (rule.except) {
    const qualified = a.group ? `${a.resource}.${a.group}` : a.resource;
    if (rule.except.includes(resource) || rule.except.includes(qualified ?? "")) return false;
  }
  const listed = (rule.resources ?? []).some(
    (r) => r === "*" || r === resource || (a.subresource !== undefined && r === `*/${a.subresource}`),
  );
  if (!listed) return false;
  return (
    rule.resourceNames === undefined || rule.resourceNames.length === 0 || rule.resourceNames.includes(a.name ?? "")
  );
}

function matches(list: string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes("*") || list.includes(value));
}
