/** `kubectl auth can-i` and `kubectl auth whoami`. */
import type { Verb } from "../context.js";
import { usageError } from "../errors.js";
import { printTabs } from "../printers/table.js";
import { ALL_NAMESPACES } from "./flag-sets.js";

const KNOWN_VERBS = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
  "use",
  "bind",
  "impersonate",
  "*",
  "approve",
  "sign",
  "escalate",
  "attest",
];

/** One row a resource or URL, in kubectl's order: by verbs, then groups. */
function rulesTable(status: any): string[] {
  const list = (values: string[] | undefined) => `[${(values ?? []).join(" ")}]`;
  const rows = new Map<string, string>();
  for (const rule of status.resourceRules ?? [])
    for (const resource of rule.resources ?? [])
      for (const group of rule.apiGroups ?? [""]) {
        const name = group ? `${resource}.${group}` : resource;
        const key = `${list(rule.verbs)} [${group}] [${resource}] ${list(rule.resourceNames)}`;
        rows.set(key, `${name}\t[]\t${list(rule.resourceNames)}\t${list(rule.verbs)}`);
      }
  let count = 0;
  for (const rule of status.nonResourceRules ?? [])
    for (const url of rule.nonResourceURLs ?? [])
      rows.set(`${list(rule.verbs)} [] [] [${url}] ${++count}`, `\t[${url}]\t[]\t${list(rule.verbs)}`);
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

const canI: Verb = {
  name: ["auth", "can-i"],
  access: "read",
  flags: {
    ...ALL_NAMESPACES,
    quiet: { type: "bool", short: "q" },
    subresource: { type: "string" },
    list: { type: "bool" },
    "no-headers": { type: "bool" },
  },
  async run(context) {
    const { flags, args } = context;
    if (flags.bool("list")) {
      const review = await context.client.json({
        method: "POST",
        path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        body: {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SelfSubjectRulesReview",
          spec: { namespace: context.namespace },
        },
      });
      const lines = rulesTable(review.status ?? {});
      if (!flags.bool("no-headers")) lines.unshift("Resources\tNon-Resource URLs\tResource Names\tVerbs");
      context.out(printTabs(lines));
      return;
    }
    const [verb, what, name] = args;
    if (verb === undefined || what === undefined)
      throw usageError(
        "you must specify two arguments: verb resource or verb resource/resourceName.\nSee 'kubectl auth can-i -h' for help and examples.",
      );
    if (!KNOWN_VERBS.includes(verb)) context.err(`Warning: verb '${verb}' is not a known verb\n`);
    let spec: any;
    if (what.startsWith("/")) spec = { nonResourceAttributes: { path: what, verb } };
    else {
      const [type = "", ...rest] = what.split("/");
      const resource = await context.discovery.find(type);
      if (!resource && type !== "*") context.err(`Warning: the server doesn't have a resource type '${type}'\n`);
      if (resource && !resource.namespaced) {
        if (!context.allNamespaces)
          context.err(
            `Warning: resource '${resource.name}' is not namespace scoped${resource.group ? ` in group '${resource.group}'` : ""}\n`,
          );
      }
      spec = {
        resourceAttributes: {
          ...(context.allNamespaces ? {} : { namespace: context.namespace }),
          verb,
          group: resource?.group ?? "",
          resource: resource?.name ?? type,
          ...(flags.string("subresource") ? { subresource: flags.string("subresource") } : {}),
          ...((name ?? rest[0]) ? { name: name ?? rest.join("/") } : {}),
        },
      };
    }
    const review = await context.client.json({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec },
    });
    const { allowed, reason, evaluationError } = review.status ?? {};
    if (!flags.bool("quiet"))
      context.out(
        `${allowed ? "yes" : `no${reason ? ` - ${reason}` : ""}${evaluationError ? ` - ${evaluationError}` : ""}`}\n`,
      );
    if (!allowed) context.exit(1);
  },
};

const whoami: Verb = {
  name: ["auth", "whoami"],
  access: "read",
  flags: {},
  async run(context) {
    const review = await context.client.json({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    });
    const user = review.status?.userInfo ?? {};
    const lines = ["ATTRIBUTE\tVALUE", `Username\t${user.username ?? ""}`];
    if (user.uid) lines.push(`UID\t${user.uid}`);
    if (user.groups?.length) lines.push(`Groups\t[${user.groups.join(" ")}]`);
    for (const [key, value] of Object.entries(user.extra ?? {}))
      lines.push(`Extra: ${key}\t[${(value as string[]).join(" ")}]`);
    context.out(printTabs(lines));
  },
};

export const authVerbs: readonly Verb[] = [canI, whoami];
