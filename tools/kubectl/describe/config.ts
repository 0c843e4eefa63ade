/** Config maps, secrets, service accounts, namespaces, quotas, limit ranges, roles and bindings, disruption budgets. */
import { conditionTable, events, formatSelector, heading, labelsAndAnnotations, sortedKeys } from "./common.js";
import type { Describer } from "./describer.js";
import type { Description } from "./writer.js";

export const configMap: Describer = {
  kind: "ConfigMap",
  group: "",
  async describe(w, object, d) {
    heading(w, object);
    labelsAndAnnotations(w, object.metadata);
    w.write(0, "\nData\n====\n");
    for (const key of sortedKeys(object.data)) w.write(0, `${key}:\n----\n${object.data[key]}\n\n`);
    w.write(0, "\nBinaryData\n====\n");
    for (const key of sortedKeys(object.binaryData))
      w.write(0, `${key}: ${Buffer.from(object.binaryData[key], "base64").length} bytes\n`);
    w.write(0, "\n");
    await events(w, d);
  },
};

export const secret: Describer = {
  kind: "Secret",
  group: "",
  async describe(w, object) {
    heading(w, object);
    labelsAndAnnotations(w, object.metadata);
    w.write(0, `\nType:\t${object.type ?? ""}\n`);
    w.write(0, "\nData\n====\n");
    // kubectl shows service-account tokens in full; values never leave this tool, so their size stands here as well.
    for (const key of sortedKeys(object.data))
      w.field(0, key, `${Buffer.from(object.data[key] ?? "", "base64").length} bytes`);
  },
};

export const serviceAccount: Describer = {
  kind: "ServiceAccount",
  group: "",
  async describe(w, object, d) {
    heading(w, object);
    labelsAndAnnotations(w, object.metadata);
    const list = (title: string, names: string[]) => {
      if (names.length === 0) w.field(0, title, "<none>");
      names.forEach((name, i) => {
        w.line(0, `${i === 0 ? `${title}:` : ""}\t${name}`);
      });
    };
    list(
      "Image pull secrets",
      (object.imagePullSecrets ?? []).map((s: any) => s.name),
    );
    list(
      "Mountable secrets",
      (object.secrets ?? []).map((s: any) => s.name),
    );
    const tokens = await d.list("secrets", { fieldSelector: "type=kubernetes.io/service-account-token" });
    list(
      "Tokens",
      tokens
        .filter(
          (t) =>
            t.type === "kubernetes.io/service-account-token" &&
            t.metadata?.annotations?.["kubernetes.io/service-account.name"] === object.metadata.name,
        )
        .map((t) => t.metadata.name),
    );
    await events(w, d);
  },
};

function quotaRows(w: Description, quota: any, indent: string): void {
  for (const name of sortedKeys(quota.status?.hard))
    w.line(0, `${indent}${name}\t${quota.status?.used?.[name] ?? "0"}\t${quota.status.hard[name]}`);
}

function limitRows(w: Description, item: any, indent: string): void {
  for (const limit of item.spec?.limits ?? []) {
    const names = new Set(
      ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"].flatMap((f) => Object.keys(limit[f] ?? {})),
    );
    for (const name of [...names].sort()) {
      const value = (field: string) => limit[field]?.[name] ?? "-";
      w.line(
        0,
        `${indent}${limit.type}\t${name}\t${value("min")}\t${value("max")}\t${value("defaultRequest")}\t${value("default")}\t${value("maxLimitRequestRatio")}`,
      );
    }
  }
}

export const namespace: Describer = {
  kind: "Namespace",
  group: "",
  async describe(w, object, d) {
    const { metadata, status = {} } = object;
    w.field(0, "Name", metadata.name);
    labelsAndAnnotations(w, metadata);
    w.field(0, "Status", status.phase ?? "");
    conditionTable(
      w,
      status.conditions,
      [
        ["Type", "type"],
        ["LastTransitionTime", "lastTransitionTime"],
        ["Reason", "reason"],
        ["Message", "message"],
      ],
      "none",
    );
    const quotas = await d.list("resourcequotas", { namespace: metadata.name });
    w.line(0, "");
    if (quotas.length === 0) w.line(0, "No resource quota.");
    else {
      w.line(0, "Resource Quotas");
      for (const quota of quotas) {
        w.field(1, "Name", quota.metadata.name);
        w.line(1, "Resource\tUsed\tHard");
        w.line(1, "--------\t---\t---");
        quotaRows(w, quota, "  ");
      }
    }
    const limits = await d.list("limitranges", { namespace: metadata.name });
    w.line(0, "");
    if (limits.length === 0) w.line(0, "No LimitRange resource.");
    else {
      w.line(0, "Resource Limits\n Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio");
      w.line(0, " ----\t--------\t---\t---\t---------------\t-------------\t-----------------------");
      for (const item of limits) limitRows(w, item, " ");
    }
  },
};

export const resourceQuota: Describer = {
  kind: "ResourceQuota",
  group: "",
  async describe(w, object) {
    heading(w, object);
    const scopes: string[] = object.spec?.scopes ?? [];
    if (scopes.length > 0) w.field(0, "Scopes", scopes.join(", "));
    w.line(0, "Resource\tUsed\tHard\n--------\t----\t----");
    quotaRows(w, object, "");
  },
};

export const limitRange: Describer = {
  kind: "LimitRange",
  group: "",
  async describe(w, object) {
    heading(w, object);
    w.line(0, "Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio");
    w.line(0, "----\t--------\t---\t---\t---------------\t-------------\t-----------------------");
    limitRows(w, object, "");
  },
};

function role(kind: string): Describer {
  return {
    kind,
    group: "rbac.authorization.k8s.io",
    async describe(w, object) {
      w.field(0, "Name", object.metadata.name);
      labelsAndAnnotations(w, object.metadata);
      w.line(0, "PolicyRule:");
      w.line(1, "Resources\tNon-Resource URLs\tResource Names\tVerbs");
      w.line(1, "---------\t-----------------\t--------------\t-----");
      const list = (values: string[] | undefined) => `[${(values ?? []).join(" ")}]`;
      const rows = (object.rules ?? []).flatMap((rule: any) => {
        const names: string[] = rule.resources?.length
          ? rule.resources.flatMap((r: string) => (rule.apiGroups ?? [""]).map((g: string) => (g ? `${r}.${g}` : r)))
          : [""];
        return names.map(
          (n) => `${n}\t${list(rule.nonResourceURLs)}\t${list(rule.resourceNames)}\t${list(rule.verbs)}`,
        );
      });
      for (const row of rows.sort()) w.line(1, row);
    },
  };
}

function binding(kind: string): Describer {
  return {
    kind,
    group: "rbac.authorization.k8s.io",
    async describe(w, object) {
      w.field(0, "Name", object.metadata.name);
      labelsAndAnnotations(w, object.metadata);
      w.line(0, "Role:");
      w.field(1, "Kind", object.roleRef?.kind);
      w.field(1, "Name", object.roleRef?.name);
      w.line(0, "Subjects:");
      w.line(1, "Kind\tName\tNamespace");
      w.line(1, "----\t----\t---------");
      for (const s of object.subjects ?? []) w.line(1, `${s.kind}\t${s.name}\t${s.namespace ?? ""}`);
    },
  };
}

export const roles: readonly Describer[] = [
  role("Role"),
  role("ClusterRole"),
  binding("RoleBinding"),
  binding("ClusterRoleBinding"),
];

export const podDisruptionBudget: Describer = {
  kind: "PodDisruptionBudget",
  group: "policy",
  async describe(w, object, d) {
    const { spec = {}, status = {} } = object;
    heading(w, object);
    if (spec.minAvailable !== undefined) w.field(0, "Min available", spec.minAvailable);
    else if (spec.maxUnavailable !== undefined) w.field(0, "Max unavailable", spec.maxUnavailable);
    w.field(0, "Selector", spec.selector ? formatSelector(spec.selector) : "<unset>");
    w.line(0, "Status:");
    w.field(2, "Allowed disruptions", status.disruptionsAllowed ?? 0);
    w.field(2, "Current", status.currentHealthy ?? 0);
    w.field(2, "Desired", status.desiredHealthy ?? 0);
    w.field(2, "Total", status.expectedPods ?? 0);
    await events(w, d);
  },
};
