/** `kubectl api-resources`, `api-versions`, `version`, `cluster-info`. */
import { groupVersion } from "../client/discovery.js";
import { listObjects } from "../client/select.js";
import type { Verb } from "../context.js";
import { usageError } from "../errors.js";
import { printJson } from "../printers/json.js";
import { printTabs } from "../printers/table.js";
import { printYaml } from "../printers/yaml.js";

/** The kubectl whose output this one follows. */
export const CLIENT_VERSION = "v1.32.4";
const KUSTOMIZE_VERSION = "v5.5.0";

export const apiResources: Verb = {
  name: ["api-resources"],
  access: "read",
  flags: {
    "api-group": { type: "string" },
    namespaced: { type: "bool", default: true },
    verbs: { type: "csv" },
    "no-headers": { type: "bool" },
    output: { type: "string", short: "o" },
    cached: { type: "bool" },
    "sort-by": { type: "string" },
    categories: { type: "csv" },
  },
  async run(context) {
    const { flags } = context;
    const output = flags.string("output");
    if (!["", "wide", "name"].includes(output)) throw usageError(`--output ${output} is not available`);
    const seen = new Set<string>();
    let list = (await context.discovery.resources()).filter((r) => {
      if (r.verbs.length === 0) return false;
      const key = `${r.group}/${r.name}`;
      if (seen.has(key)) return false;
      seen.add(key);
      if (flags.has("api-group") && r.group !== flags.string("api-group")) return false;
      if (flags.has("namespaced") && r.namespaced !== flags.bool("namespaced")) return false;
      if (!flags.list("verbs").every((verb) => r.verbs.includes(verb))) return false;
      return flags.list("categories").every((c) => r.categories.includes(c));
    });
    const by = flags.string("sort-by");
    const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
    list = [...list].sort((a, b) =>
      by === "name"
        ? compare(a.name, b.name)
        : by === "kind"
          ? compare(a.kind, b.kind)
          : compare(a.group, b.group) || compare(a.name, b.name),
    );
    if (output === "name") {
      context.out(list.map((r) => `${r.group ? `${r.name}.${r.group}` : r.name}\n`).join(""));
      return;
    }
    const wide = output === "wide";
    const lines = list.map((r) =>
      [
        r.name,
        r.shortNames.join(","),
        groupVersion(r),
        r.namespaced,
        r.kind,
        ...(wide ? [r.verbs.join(","), r.categories.join(",")] : []),
      ].join("\t"),
    );
    if (!flags.bool("no-headers"))
      lines.unshift(`NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND${wide ? "\tVERBS\tCATEGORIES" : ""}`);
    context.out(printTabs(lines));
  },
};

export const apiVersions: Verb = {
  name: ["api-versions"],
  access: "read",
  flags: {},
  async run(context) {
    const versions = new Set((await context.discovery.resources()).map(groupVersion));
    context.out(
      [...versions]
        .sort()
        .map((v) => `${v}\n`)
        .join(""),
    );
  },
};

export const version: Verb = {
  name: ["version"],
  access: "read",
  flags: { client: { type: "bool" }, output: { type: "string", short: "o" }, short: { type: "bool" } },
  async run(context) {
    const { flags } = context;
    const server = flags.bool("client") ? undefined : await context.client.json({ path: "/version" });
    const output = flags.string("output");
    const [major, minor] = CLIENT_VERSION.slice(1).split(".");
    const data = {
      clientVersion: { gitVersion: CLIENT_VERSION, major, minor },
      kustomizeVersion: KUSTOMIZE_VERSION,
      ...(server ? { serverVersion: server } : {}),
    };
    if (output === "json") context.out(printJson(data).replace(/ {4}/g, "  "));
    else if (output === "yaml") context.out(printYaml(data));
    else if (output !== "") throw usageError("--output must be 'yaml' or 'json'");
    else {
      context.out(`Client Version: ${CLIENT_VERSION}\nKustomize Version: ${KUSTOMIZE_VERSION}\n`);
      if (server) {
        context.out(`Server Version: ${server.gitVersion}\n`);
        const skew = Math.abs(Number.parseInt(server.minor, 10) - Number(minor));
        if (skew > 1)
          context.err(
            `WARNING: version difference between client (${major}.${minor}) and server (${Number.parseInt(server.major, 10)}.${Number.parseInt(server.minor, 10)}) exceeds the supported minor version skew of +/-1\n`,
          );
      }
    }
  },
};

export const clusterInfo: Verb = {
  name: ["cluster-info"],
  access: "read",
  flags: {},
  async run(context) {
    if (context.args[0] === "dump")
      throw usageError("cluster-info dump prints too much: ask for single objects with get, describe and logs");
    const server = await context.client.server();
    context.out(`Kubernetes control plane is running at ${server}\n`);
    const services = await context.discovery.resolve("services");
    const list = await listObjects(
      context,
      services,
      { labelSelector: "kubernetes.io/cluster-service=true" },
      "kube-system",
    ).catch(() => []);
    for (const s of list) {
      const port = s.spec?.ports?.[0];
      const name = port?.name ? `${s.metadata.name}:${port.name}` : s.metadata.name;
      context.out(
        `${s.metadata.labels?.["kubernetes.io/name"] ?? s.metadata.name} is running at ${server}/api/v1/namespaces/kube-system/services/${name}/proxy\n`,
      );
    }
    context.out("\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n");
  },
};
