/** `kubectl create`: from a manifest, and the generators of common kinds. */
import { resourcePath } from "../client/discovery.js";
import type { Context, Verb } from "../context.js";
import { ApiError, KubectlError, usageError } from "../errors.js";
import type { FlagSpecs } from "../flags.js";
import { FILENAME, OUTPUT, WRITING } from "./flag-sets.js";
import { createFromManifest } from "./manifests.js";
import { dryRun, printOutcome, writeQuery } from "./writing.js";

const COMMON: FlagSpecs = { ...OUTPUT, ...WRITING, "save-config": { type: "bool" } };

function name(context: Context, words: string): string {
  if (context.args.length !== 1)
    throw usageError(
      `exactly one NAME is required, got ${context.args.length}\nSee 'kubectl create ${words} -h' for help and examples`,
    );
  return context.args[0] as string;
}

/** How kubectl names what it could not create; nothing where it passes the server's error on. */
const FAILURES: Record<string, string> = {
  Deployment: "deployment:",
  ConfigMap: "configmap:",
  Secret: "secret",
  Service: "TYPE service:",
  ServiceAccount: "serviceaccount:",
  Job: "job:",
  CronJob: "cronjob:",
  RoleBinding: "rolebinding:",
  ResourceQuota: "quota:",
  Ingress: "ingress:",
  Namespace: "",
  Role: "",
  ClusterRole: "",
  ClusterRoleBinding: "clusterrolebinding:",
};

async function send(context: Context, object: any): Promise<void> {
  const resource = await context.discovery.byKind(object.apiVersion, object.kind);
  if (!resource)
    throw new KubectlError(`error: no matches for kind "${object.kind}" in version "${object.apiVersion}"`);
  const namespaced = resource.namespaced
    ? {
        ...object,
        metadata: {
          ...object.metadata,
          ...(context.namespaceGiven || dryRun(context) !== "client" ? { namespace: context.namespace } : {}),
        },
      }
    : object;
  let result = namespaced;
  if (dryRun(context) !== "client") {
    try {
      result = await context.client.json({
        method: "POST",
        path: resourcePath(resource, resource.namespaced ? context.namespace : undefined),
        body: namespaced,
        query: writeQuery(context, "kubectl-create", { validate: true }),
      });
    } catch (error) {
      const what = FAILURES[object.kind] ?? `${object.kind.toLowerCase()}:`;
      if (error instanceof ApiError && what !== "")
        throw new KubectlError(`error: failed to create ${what.replace("TYPE", object.spec?.type)} ${error.message}`);
      throw error;
    }
  }
  printOutcome(context, resource, result, "created");
}

function literals(context: Context, kind: string): Record<string, string> {
  const data: Record<string, string> = {};
  for (const literal of context.flags.list("from-literal")) {
    const equals = literal.indexOf("=");
    if (equals <= 0) throw usageError(`invalid literal source ${literal}, expected key=value`);
    const key = literal.slice(0, equals);
    if (key in data)
      throw usageError(
        `cannot add key "${key}", another key by that name already exists in Data for ${kind} "${context.args[0] ?? ""}"`,
      );
    data[key] = literal.slice(equals + 1);
  }
  return data;
}

function generator(words: string[], flags: FlagSpecs, run: (context: Context) => Promise<void>): Verb[] {
  return [{ name: ["create", ...words], access: "write", flags: { ...COMMON, ...flags }, run }];
}

const meta = (n: string, extra: Record<string, unknown> = {}) => ({ creationTimestamp: null, ...extra, name: n });

function container(image: string, command: string[]): any {
  const base = (image.split("/").at(-1) as string).split(/[:@]/)[0] as string;
  return {
    image,
    name: base.toLowerCase().replace(/[^a-z0-9-]/g, "-"),
    resources: {},
    ...(command.length > 0 ? { command } : {}),
  };
}

const deployment = async (context: Context) => {
  const n = name(context, "deployment");
  const { flags } = context;
  const images = flags.list("image");
  if (images.length === 0) throw usageError('required flag(s) "image" not set');
  if (images.length > 1 && context.flags.afterDash.length > 0)
    throw usageError("cannot specify multiple --image options and command");
  const labels = { app: n };
  const port = flags.int("port");
  await send(context, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: meta(n, { labels }),
    spec: {
      replicas: flags.has("replicas") ? flags.int("replicas") : 1,
      selector: { matchLabels: labels },
      strategy: {},
      template: {
        metadata: { creationTimestamp: null, labels },
        spec: {
          containers: images.map((image, i) => ({
            ...container(image, context.flags.afterDash),
            ...(port > 0 && i === 0 ? { ports: [{ containerPort: port }] } : {}),
          })),
        },
      },
    },
    status: {},
  });
};

function ports(context: Context): any[] {
  return context.flags.list("tcp").map((text) => {
    const [port, target = port] = text.split(":");
    return {
      name: text.replace(":", "-"),
      port: Number(port),
      protocol: "TCP",
      targetPort: /^\d+$/.test(target as string) ? Number(target) : target,
    };
  });
}

function service(
  type: "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName",
): (context: Context) => Promise<void> {
  return async (context) => {
    const n = name(context, `service ${type.toLowerCase()}`);
    const list = ports(context);
    const clusterIP = context.flags.string("clusterip");
    if (type !== "ExternalName" && list.length === 0 && clusterIP !== "None")
      throw usageError("at least one tcp port specifier must be provided");
    if (type === "NodePort" && context.flags.int("node-port") > 0 && list[0])
      list[0].nodePort = context.flags.int("node-port");
    await send(context, {
      apiVersion: "v1",
      kind: "Service",
      metadata: meta(n, { labels: { app: n } }),
      spec: {
        ...(list.length > 0 ? { ports: list } : {}),
        selector: { app: n },
        type,
        ...(type === "ExternalName" ? { externalName: context.flags.string("external-name") } : {}),
        ...(clusterIP ? { clusterIP } : {}),
      },
      status: { loadBalancer: {} },
    });
  };
}

const job = async (context: Context) => {
  const n = name(context, "job");
  const { flags } = context;
  let spec: any;
  let owner: any;
  if (flags.string("from")) {
    const [type = "", from = ""] = flags.string("from").split("/");
    const resource = await context.discovery.resolve(type);
    if (resource.kind !== "CronJob")
      throw usageError(`unknown object type *${resource.kind}: --from must name a cronjob`);
    const cron = await context.client.json({ path: resourcePath(resource, context.namespace, from) });
    spec = cron.spec.jobTemplate.spec;
    owner = [
      { apiVersion: "batch/v1", controller: true, kind: "CronJob", name: cron.metadata.name, uid: cron.metadata.uid },
    ];
  } else {
    if (!flags.string("image")) throw usageError("either --image or --from must be specified");
    spec = {
      template: {
        metadata: { creationTimestamp: null },
        spec: {
          containers: [{ ...container(flags.string("image"), flags.afterDash), name: n }],
          restartPolicy: "Never",
        },
      },
    };
  }
  await send(context, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: meta(
      n,
      owner ? { annotations: { "cronjob.kubernetes.io/instantiate": "manual" }, ownerReferences: owner } : {},
    ),
    spec,
    status: {},
  });
};

const cronJob = async (context: Context) => {
  const n = name(context, "cronjob");
  const { flags } = context;
  for (const flag of ["image", "schedule"])
    if (!flags.string(flag)) throw usageError(`required flag(s) "${flag}" not set`);
  await send(context, {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: meta(n),
    spec: {
      jobTemplate: {
        metadata: meta(n),
        spec: {
          template: {
            metadata: { creationTimestamp: null },
            spec: {
              containers: [{ ...container(flags.string("image"), flags.afterDash), name: n }],
              restartPolicy: flags.string("restart") || "OnFailure",
            },
          },
        },
      },
      schedule: flags.string("schedule"),
    },
    status: {},
  });
};

function rules(context: Context): any[] {
  const { flags } = context;
  const verbs = flags.list("verb");
  if (verbs.length === 0) throw usageError("at least one verb must be specified");
  if (flags.list("resource").length === 0) throw usageError("at least one resource must be specified");
  const groups = new Map<string, string[]>();
  for (const word of flags.list("resource")) {
    const [resource = "", ...group] = word.split(".");
    const key = group.join(".");
    groups.set(key, [...(groups.get(key) ?? []), resource]);
  }
  const names = flags.list("resource-name");
  return [...groups].map(([group, resources]) => ({
    apiGroups: [group],
    resources,
    verbs,
    ...(names.length > 0 ? { resourceNames: names } : {}),
  }));
}

function subjects(context: Context): any[] {
  const { flags } = context;
  return [
    ...flags.list("user").map((n) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: n })),
    ...flags.list("group").map((n) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: n })),
    ...flags.list("serviceaccount").map((text) => {
      const [namespace, n] = text.split(":");
      if (!n) throw usageError("serviceaccount must be <namespace>:<name>");
      return { kind: "ServiceAccount", name: n, namespace };
    }),
  ];
}

const roleFlags: FlagSpecs = { verb: { type: "csv" }, resource: { type: "csv" }, "resource-name": { type: "list" } };
const bindingFlags: FlagSpecs = {
  clusterrole: { type: "string" },
  role: { type: "string" },
  user: { type: "list" },
  group: { type: "list" },
  serviceaccount: { type: "list" },
};

function binding(kind: string): (context: Context) => Promise<void> {
  return async (context) => {
    const cluster = context.flags.string("clusterrole");
    const role = context.flags.string("role");
    if ((cluster === "") === (role === "")) throw usageError("exactly one of clusterrole or role must be specified");
    await send(context, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind,
      metadata: meta(name(context, "rolebinding")),
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: cluster ? "ClusterRole" : "Role", name: cluster || role },
      subjects: subjects(context),
    });
  };
}

/** A number, or a share such as `50%`. */
const amount = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);

const disruptionBudget = async (context: Context) => {
  const selector = context.flags.string("selector");
  const [least, most] = [context.flags.string("min-available"), context.flags.string("max-unavailable")];
  if (selector === "") throw usageError("a selector must be specified");
  if (least === "" && most === "") throw usageError("one of min-available or max-unavailable must be specified");
  if (least !== "" && most !== "") throw usageError("min-available and max-unavailable cannot be both specified");
  const matchLabels: Record<string, string> = {};
  for (const part of selector.split(",")) {
    const [key, value] = part.split(/==?/);
    if (!key || value === undefined) throw usageError(`"${part}" is not a label: write KEY=VALUE`);
    matchLabels[key.trim()] = value.trim();
  }
  await send(context, {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: meta(name(context, "poddisruptionbudget")),
    spec: {
      ...(least === "" ? { maxUnavailable: amount(most) } : { minAvailable: amount(least) }),
      selector: { matchLabels },
    },
    status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  });
};

const quota = async (context: Context) => {
  const hard: Record<string, string> = {};
  for (const part of context.flags.string("hard").split(",").filter(Boolean)) {
    const [key, value] = part.split("=");
    if (!key || value === undefined) throw usageError(`invalid argument syntax ${part}, expected <resource>=<value>`);
    hard[key] = value;
  }
  await send(context, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: meta(name(context, "quota")),
    spec: { hard },
    status: {},
  });
};

const ingress = async (context: Context) => {
  const n = name(context, "ingress");
  const list = context.flags.list("rule").map((text) => {
    const match = /^([^/=]*)(\/[^=]*)?=([^:,]+):([^,]+)(?:,tls(?:=(.*))?)?$/.exec(text);
    if (!match)
      throw usageError(`rule ${text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]`);
    const [, host, path = "/", svc, port] = match as unknown as [string, string, string | undefined, string, string];
    const prefix = path.endsWith("*");
    return {
      ...(host ? { host } : {}),
      http: {
        paths: [
          {
            backend: { service: { name: svc, port: /^\d+$/.test(port) ? { number: Number(port) } : { name: port } } },
            path: prefix ? path.slice(0, -1) : path,
            pathType: prefix ? "Prefix" : "Exact",
          },
        ],
      },
    };
  });
  if (list.length === 0 && !context.flags.string("default-backend"))
    throw usageError(
      "not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)",
    );
  await send(context, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: meta(n),
    spec: {
      ...(context.flags.string("class") ? { ingressClassName: context.flags.string("class") } : {}),
      rules: list,
    },
    status: { loadBalancer: {} },
  });
};

const secretGeneric = async (context: Context) => {
  const data = Object.fromEntries(
    Object.entries(literals(context, "Secret")).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
  await send(context, {
    apiVersion: "v1",
    data,
    kind: "Secret",
    metadata: meta(name(context, "secret generic")),
    ...(context.flags.string("type") ? { type: context.flags.string("type") } : {}),
  });
};

const secretRegistry = async (context: Context) => {
  const { flags } = context;
  const [server, user, password] = [
    flags.string("docker-server") || "https://index.docker.io/v1/",
    flags.string("docker-username"),
    flags.string("docker-password"),
  ];
  if (!user || !password)
    throw usageError(
      "either --from-file or the combination of --docker-username, --docker-password and --docker-server is required",
    );
  const config = {
    auths: {
      [server]: {
        username: user,
        password,
        ...(flags.string("docker-email") ? { email: flags.string("docker-email") } : {}),
        auth: Buffer.from(`${user}:${password}`).toString("base64"),
      },
    },
  };
  await send(context, {
    apiVersion: "v1",
    data: { ".dockerconfigjson": Buffer.from(JSON.stringify(config)).toString("base64") },
    kind: "Secret",
    metadata: meta(name(context, "secret docker-registry")),
    type: "kubernetes.io/dockerconfigjson",
  });
};

const configMap = async (context: Context) => {
  const data = literals(context, "ConfigMap");
  await send(context, {
    apiVersion: "v1",
    ...(Object.keys(data).length > 0 ? { data } : {}),
    kind: "ConfigMap",
    metadata: meta(name(context, "configmap")),
  });
};

const tcp: FlagSpecs = { tcp: { type: "csv" }, clusterip: { type: "string" }, "node-port": { type: "int" } };
const fromLiteral: FlagSpecs = {
  "from-literal": { type: "list" },
  "append-hash": { type: "bool" },
  type: { type: "string" },
};

const fromManifest: Verb = {
  name: ["create"],
  access: "write",
  flags: {
    ...COMMON,
    ...FILENAME,
    raw: { type: "string" },
    edit: { type: "bool", forbidden: "no editor is available: leave this flag out" },
  },
  async run(context) {
    if (context.flags.list("filename").length === 0)
      throw context.args.length > 0
        ? usageError(`Unexpected args: [${context.args.join(" ")}]
See 'kubectl create -h' for help and examples`)
        : usageError("must specify one of -f and -k");
    await createFromManifest(context);
  },
};

export const createVerbs: readonly Verb[] = [
  fromManifest,
  ...["deployment", "deploy"].flatMap((w) =>
    generator(
      [w],
      { image: { type: "list" }, replicas: { type: "int", short: "r" }, port: { type: "int", default: -1 } },
      deployment,
    ),
  ),
  ...["configmap", "cm"].flatMap((w) => generator([w], fromLiteral, configMap)),
  ...generator(["secret", "generic"], fromLiteral, secretGeneric),
  ...generator(
    ["secret", "docker-registry"],
    {
      "docker-server": { type: "string" },
      "docker-username": { type: "string" },
      "docker-password": { type: "string" },
      "docker-email": { type: "string" },
    },
    secretRegistry,
  ),
  ...["service", "svc"].flatMap((w) => [
    ...generator([w, "clusterip"], tcp, service("ClusterIP")),
    ...generator([w, "nodeport"], tcp, service("NodePort")),
    ...generator([w, "loadbalancer"], tcp, service("LoadBalancer")),
    ...generator([w, "externalname"], { ...tcp, "external-name": { type: "string" } }, service("ExternalName")),
  ]),
  ...["namespace", "ns"].flatMap((w) =>
    generator([w], {}, async (context) =>
      send(context, {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: meta(name(context, "namespace")),
        spec: {},
        status: {},
      }),
    ),
  ),
  ...["serviceaccount", "sa"].flatMap((w) =>
    generator([w], {}, async (context) =>
      send(context, { apiVersion: "v1", kind: "ServiceAccount", metadata: meta(name(context, "serviceaccount")) }),
    ),
  ),
  ...generator(["job"], { image: { type: "string" }, from: { type: "string" } }, job),
  ...["cronjob", "cj"].flatMap((w) =>
    generator([w], { image: { type: "string" }, schedule: { type: "string" }, restart: { type: "string" } }, cronJob),
  ),
  ...generator(["role"], roleFlags, async (context) =>
    send(context, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: meta(name(context, "role")),
      rules: rules(context),
    }),
  ),
  ...generator(["clusterrole"], roleFlags, async (context) =>
    send(context, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: meta(name(context, "clusterrole")),
      rules: rules(context),
    }),
  ),
  ...generator(["rolebinding"], bindingFlags, binding("RoleBinding")),
  ...generator(["clusterrolebinding"], bindingFlags, binding("ClusterRoleBinding")),
  ...["quota", "resourcequota"].flatMap((w) =>
    generator([w], { hard: { type: "string" }, scopes: { type: "string" } }, quota),
  ),
  ...["poddisruptionbudget", "pdb"].flatMap((w) =>
    generator(
      [w],
      { selector: { type: "string" }, "min-available": { type: "string" }, "max-unavailable": { type: "string" } },
      disruptionBudget,
    ),
  ),
  ...["ingress", "ing"].flatMap((w) =>
    generator(
      [w],
      { rule: { type: "list" }, class: { type: "string" }, "default-backend": { type: "string" } },
      ingress,
    ),
  ),
];
