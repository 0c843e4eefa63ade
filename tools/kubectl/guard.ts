/**
 * What an agent may ask of kubectl. Looks at the parsed arguments, before anything runs, for the built-in and for the
 * native kubectl alike; `scope.ts` then looks at where writes go, and the built-in's REST client has a wall of its own.
 */
import { KubectlError } from "./errors.js";
import { type Invocation, parseInvocation, verbWord } from "./invocation.js";

export interface Policy {
  mode: "read-only" | "read-write";
  /** Namespaces that may be written to; undefined allows all. */
  namespaces?: readonly string[];
}

export type Verdict =
  | { ok: true; invocation: Invocation }
  | { ok: false; message: string }
  | { ok: false; usage: string };

/** Verbs that are refused whatever the policy, each with what to do instead. */
const REFUSED_VERBS: Record<string, string> = {
  exec: "commands cannot be run inside containers: use `kubectl logs`, `kubectl describe` and the metrics tools",
  attach: "attaching to a container is not available: use `kubectl logs`",
  "port-forward": "tunnels are not available: use the metrics, logs and traces tools, or `kubectl get --raw`",
  proxy: "tunnels are not available: use `kubectl get --raw PATH`",
  cp: "files cannot be copied from or to containers",
  debug: "debug containers are not available: use `kubectl logs` and `kubectl describe`",
  diff: "differences are not shown: use `kubectl apply -f - --dry-run=server -o yaml`, and `kubectl get -o yaml` for what is there",
  edit: "no editor is available: use `kubectl set`, `kubectl patch`, `kubectl scale`, `kubectl label` or `kubectl apply -f -`",
  run: "pods cannot be started by hand: use `kubectl create deployment`, or `kubectl apply -f -` with a manifest",
  plugin: "plugins are not available",
  config: "the connection is set for you and cannot be read or changed",
  completion: "shell completion is of no use here",
  alpha: "alpha commands are not available",
  kustomize: "local files cannot be read: use `kubectl apply -f -` with a manifest",
  certificate: "certificates are not yours to approve",
  options: "see `kubectl explain` and `kubectl api-resources` for help",
  help: "help texts are not available: use `kubectl explain`, `kubectl api-resources`, or write the command as kubectl takes it",
};

/** Kinds that must not be deleted, by all names that kubectl takes for them. */
const UNDELETABLE: Record<string, string[]> = {
  namespaces: ["namespaces", "namespace", "ns"],
  nodes: ["nodes", "node", "no"],
  customresourcedefinitions: ["customresourcedefinitions", "customresourcedefinition", "crd", "crds"],
  persistentvolumes: ["persistentvolumes", "persistentvolume", "pv"],
};

/**
 * Kinds of which all objects at once must not be deleted, by all names that kubectl takes for them: what runs the
 * application, and what cannot be made again.
 */
const NEVER_ALL = new Set(
  `all deployments deployment deploy statefulsets statefulset sts daemonsets daemonset ds replicasets replicaset rs
   services service svc configmaps configmap cm secrets secret persistentvolumeclaims persistentvolumeclaim pvc
   serviceaccounts serviceaccount sa ingresses ingress ing roles role rolebindings rolebinding`.split(/\s+/),
);

function typeOf(word: string): string {
  return (word.toLowerCase().split("/")[0] ?? "").split(".")[0] as string;
}

/** Parts of the API that lead into containers, onto nodes, or never end. */
const RAW_REFUSED: [RegExp, string][] = [
  [/\/(exec|attach|portforward|proxy)(\/|$)/, "paths into containers and onto nodes are not available"],
  [/^\/(logs|debug)(\/|$)/, "the server's own files and profiles are not available"],
  [/\/watch(\/|$)/, "watching never ends: read the list itself"],
];

/** Why a `--raw` path is refused, or undefined. Judged as the server reads it: decoded, without dots. */
function refusedRaw(raw: string): string | undefined {
  if (!raw.startsWith("/")) return "--raw takes a path of the API server that starts with /, for example /apis/apps/v1";
  let path: string;
  const url = new URL(raw, "http://server");
  try {
    path = decodeURIComponent(url.pathname);
  } catch {
    return "--raw: the path is not encoded as a URL";
  }
  const why = RAW_REFUSED.find(([pattern]) => pattern.test(path))?.[1];
  if (why !== undefined) return `--raw ${url.pathname}: ${why}`;
  const endless = ["watch", "follow"].find(
    (name) => !["", "0", "false", "False"].includes(url.searchParams.get(name) ?? ""),
  );
  return endless === undefined ? undefined : `--raw with ${endless} never ends: leave it out of the query`;
}

function undeletable(word: string): string | undefined {
  const type = typeOf(word);
  return Object.entries(UNDELETABLE).find(([, names]) => names.includes(type))?.[0];
}

function refuse(message: string): Verdict {
  return { ok: false, message: `refused: ${message}` };
}

/** Does the command change nothing on the server, although its verb could? */
export function changesNothing(invocation: Invocation): boolean {
  const { verb, flags } = invocation;
  return (
    verb.access !== "write" ||
    ["client", "unchanged"].includes(flags.string("dry-run")) ||
    flags.bool("list") ||
    (flags.bool("local") && flags.has("local"))
  );
}

/**
 * Judges one kubectl argument list.
 *
 * @returns the parsed invocation; or `message`, a refusal that says what to do instead; or `usage`, kubectl's own
 * complaint about the arguments
 */
export function guard(argv: readonly string[], policy: Policy): Verdict {
  const word = verbWord(argv);
  if (word !== undefined && Object.hasOwn(REFUSED_VERBS, word))
    return refuse(`kubectl ${word}: ${REFUSED_VERBS[word]}`);
  let invocation: Invocation;
  try {
    invocation = parseInvocation(argv);
  } catch (error) {
    if (error instanceof KubectlError) return { ok: false, usage: error.message };
    throw error;
  }
  const { verb, flags, specs } = invocation;
  const name = `kubectl ${verb.name.join(" ")}`;
  for (const flag of flags.names()) {
    const spec = specs[flag];
    if (spec?.forbidden && !(spec.type === "bool" && !flags.bool(flag))) return refuse(`--${flag}: ${spec.forbidden}`);
  }
  if (flags.bool("help")) return refuse(REFUSED_VERBS.help as string);
  const loud = flags.string("v");
  if (loud !== "" && !/^[0-5]$/.test(loud))
    return refuse("-v: the log level is not yours to raise: leave this flag out");
  for (const file of flags.list("filename"))
    if (file !== "-")
      return refuse(
        `-f ${file}: local files and URLs cannot be read: pass the manifest in the tool's manifest argument and write \`-f -\``,
      );
  const output = flags.string("output");
  if (/^(custom-columns|go-template|jsonpath|template)-?file/.test(output))
    return refuse(
      `-o ${output.split("=")[0]}: local files cannot be read: write the template itself, for example -o jsonpath='{.items[*].metadata.name}'`,
    );
  if (flags.has("raw") && verb.name[0] !== "get") return refuse("--raw is available with `kubectl get` only");
  const raw = flags.has("raw") ? refusedRaw(flags.string("raw")) : undefined;
  if (raw !== undefined) return refuse(raw);
  // The real kubectl has commands, and looks for plugins, that are not known here.
  if (verb.name.join(" ") === "create" && flags.args.length > 0) {
    if (/^(token|priorityclass|pc)$/.test(flags.args[0] as string))
      return refuse(`kubectl create ${flags.args[0]} is not available`);
    const usage = `error: Unexpected args: [${flags.args.join(" ")}]\nSee 'kubectl create -h' for help and examples`;
    return { ok: false, usage };
  }
  if (verb.name[0] === "cluster-info" && flags.args.length > 0)
    return refuse("kubectl cluster-info dump: ask for the objects themselves with `kubectl get` and `kubectl logs`");
  if (verb.access !== "write") return { ok: true, invocation };

  if (policy.mode === "read-only" && !changesNothing(invocation))
    return refuse(
      `${name} changes the cluster, and only reading is allowed now: use get, describe, logs, events, top, explain, rollout status or rollout history${flags.has("dry-run") ? " (--dry-run=client is allowed, --dry-run=server is a write to the server)" : ""}`,
    );
  if (verb.name[0] === "delete") {
    const kind = flags.args
      .slice(0, flags.args[0]?.includes("/") ? undefined : 1)
      .flatMap((arg) => arg.split(","))
      .map(undeletable)
      .find(Boolean);
    if (kind) return refuse(`${kind} must not be deleted: delete or repair the objects inside instead`);
    if (flags.bool("all") && !flags.string("selector") && !changesNothing(invocation)) {
      const whole = (flags.args[0] ?? "").split(",").find((type) => NEVER_ALL.has(typeOf(type)));
      if (whole !== undefined)
        return refuse(`${name} ${whole} --all would take the application away: name the objects that are in the way`);
    }
    if (flags.args[0] === "all" && policy.namespaces && flags.bool("all-namespaces"))
      return refuse("deleting in all namespaces is not allowed: name one namespace with -n");
  }
  if (verb.name[0] === "scale" && flags.bool("all") && flags.int("replicas") === 0 && !changesNothing(invocation))
    return refuse("kubectl scale --all --replicas=0 would stop the application: name the workload");
  if (policy.namespaces && !changesNothing(invocation)) {
    if (flags.bool("all-namespaces"))
      return refuse(
        `${name} -A: writes are allowed only in ${policy.namespaces.join(", ")}: name the namespace with -n`,
      );
    const namespace = flags.string("namespace");
    if (namespace !== "" && !policy.namespaces.includes(namespace))
      return refuse(`namespace ${namespace}: writes are allowed only in ${policy.namespaces.join(", ")}`);
  }
  return { ok: true, invocation };
}

const PATH = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/([^/]+)\/)?([^/]+)(?:\/([^/]+))?(?:\/(.+))?$/;
const REVIEWS = /\/(selfsubjectaccessreviews|selfsubjectrulesreviews|selfsubjectreviews)$/;

/**
 * The wall: judges a request that changes something by its path alone.
 *
 * @returns why it is refused, or undefined
 */
export function wall(method: string, path: string, policy: Policy): string | undefined {
  if (method === "GET" || (method === "POST" && REVIEWS.test(path))) return undefined;
  if (policy.mode === "read-only") return "only reading is allowed now";
  const match = PATH.exec(path);
  if (!match) return `${method} ${path} is not allowed`;
  const [, namespace, resource, name] = match.map((part) => (part === undefined ? part : decodeURIComponent(part)));
  if (path.startsWith("/apis/rbac.authorization.k8s.io/") && policy.namespaces)
    return `${resource}: rights are not yours to give or take`;
  if (namespace !== undefined) {
    if (policy.namespaces && !policy.namespaces.includes(namespace))
      return `namespace ${namespace}: writes are allowed only in ${policy.namespaces.join(", ")}`;
    return undefined;
  }
  if (method === "DELETE" && resource !== undefined && undeletable(resource) !== undefined)
    return `${resource} must not be deleted: delete or repair the objects inside instead`;
  if (!policy.namespaces) return undefined;
  // Cluster-wide objects: a node may be cordoned and tainted, the scenario's own namespaces labelled; nothing else.
  if (resource === "nodes" && method === "PATCH") return undefined;
  if (resource === "namespaces" && (method === "PATCH" || method === "PUT")) {
    if (name !== undefined && policy.namespaces.includes(name)) return undefined;
    return `namespace ${name}: writes are allowed only in ${policy.namespaces.join(", ")}`;
  }
  return `${resource} belong to the whole cluster: writes are allowed only in the namespaces ${policy.namespaces.join(", ")}`;
}
