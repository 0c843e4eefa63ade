/** `kubectl logs`. */
import { type Resource, resourcePath } from "../client/discovery.js";
import { listObjects, selectTargets } from "../client/select.js";
import type { Context, Verb } from "../context.js";
import { selectorQuery } from "../describe/common.js";
import { ApiError, KubectlError, plainMessage, usageError } from "../errors.js";
import { parseDuration } from "../flags.js";
import { ALL_NAMESPACES, SELECTOR } from "./flag-sets.js";

/** What is read of the logs of one command: shared between its containers, each of which gets something. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
const MAX_BYTES_OF_ONE = 4 * 1024 * 1024;
const MIN_BYTES_OF_ONE = 64 * 1024;
/** How many of the last lines are asked for, one number after the other, until they fit. */
const TAILS = [10_000, 1_000, 100];

const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

interface Source {
  pod: any;
  container: string;
  /** Field of the pod that names the container: `spec.containers{app}`. */
  field: string;
}

function containersOf(pod: any): { name: string; field: string }[] {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((field) =>
    (pod.spec?.[field] ?? []).map((c: any) => ({ name: c.name, field: `spec.${field}{${c.name}}` })),
  );
}

function pick(context: Context, pod: any): Source[] {
  const { flags } = context;
  const all = containersOf(pod);
  if (flags.bool("all-containers")) return all.map(({ name, field }) => ({ pod, container: name, field }));
  const wanted = flags.string("container");
  const main: any[] = pod.spec?.containers ?? [];
  if (wanted !== "") {
    const found = all.find(({ name }) => name === wanted);
    if (!found) throw usageError(`container ${wanted} is not valid for pod ${pod.metadata.name}`);
    return [{ pod, container: wanted, field: found.field }];
  }
  const marked = pod.metadata?.annotations?.[DEFAULT_CONTAINER];
  const preset = main.find((c) => c.name === marked) ?? main[0];
  if (!preset) throw usageError(`pod ${pod.metadata.name} has no containers`);
  if (main.length + (pod.spec?.initContainers?.length ?? 0) > 1 && preset.name !== marked) {
    const names = all.map(({ name, field }) => (field.startsWith("spec.init") ? `${name} (init)` : name));
    const ordered = [...names.filter((n) => !n.endsWith(" (init)")), ...names.filter((n) => n.endsWith(" (init)"))];
    context.err(`Defaulted container "${preset.name}" out of: ${ordered.join(", ")}\n`);
  }
  return [{ pod, container: preset.name, field: `spec.containers{${preset.name}}` }];
}

/** Newest and ready first, as kubectl chooses a pod of a workload. */
function rank(pod: any): [number, number, number, number] {
  const assigned = pod.spec?.nodeName ? 0 : 1;
  const phase = ({ Running: 0, Unknown: 1, Pending: 2 } as Record<string, number>)[pod.status?.phase] ?? 3;
  const ready = (pod.status?.conditions ?? []).some((c: any) => c.type === "Ready" && c.status === "True") ? 0 : 1;
  return [assigned, phase, ready, Date.parse(pod.metadata?.creationTimestamp ?? "") || 0];
}

async function podsOf(context: Context, resource: Resource, name: string): Promise<any[]> {
  const object = await context.client.json({ path: resourcePath(resource, context.namespace, name) });
  if (resource.name === "pods" && resource.group === "") return [object];
  const selector =
    resource.name === "services"
      ? { matchLabels: object.spec?.selector }
      : object.spec?.selector?.matchLabels || object.spec?.selector?.matchExpressions
        ? object.spec.selector
        : undefined;
  if (!selector)
    throw usageError(
      `cannot get the logs from *${resource.version}.${resource.kind}: selector for *${resource.version}.${resource.kind} not implemented`,
    );
  const pods = (await context.discovery.resolve("pods")) as Resource;
  const list = await listObjects(
    context,
    pods,
    { labelSelector: selectorQuery(selector), fieldSelector: "" },
    context.namespace,
  );
  if (list.length === 0) throw usageError(`timed out waiting for the condition`);
  return list.sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return (x[i] as number) - (y[i] as number);
    return 0;
  });
}

function query(context: Context, container: string): Record<string, string | undefined> {
  const { flags } = context;
  const tail = flags.int("tail");
  const since = flags.string("since");
  const selector = flags.string("selector") !== "";
  return {
    container,
    previous: flags.bool("previous") ? "true" : undefined,
    timestamps: flags.bool("timestamps") ? "true" : undefined,
    // With a selector kubectl shows ten lines of each unless told otherwise.
    tailLines: flags.has("tail") ? (tail >= 0 ? String(tail) : undefined) : selector ? "10" : undefined,
    sinceSeconds: since && since !== "0s" ? String(Math.ceil(parseDuration(since) ?? 0)) : undefined,
    sinceTime: flags.string("since-time"),
    limitBytes: flags.int("limit-bytes") > 0 ? String(flags.int("limit-bytes")) : undefined,
  };
}

/**
 * The log of one container. The end of a log that is too long to be read is worth more than its beginning: its last
 * lines are asked for instead, and that is said on stderr.
 */
async function readLog(context: Context, { pod, container }: Source, maxBytes: number): Promise<string> {
  const pods = await context.discovery.resolve("pods");
  const request = (parameters: Record<string, string | undefined>) => ({
    path: resourcePath(pods, pod.metadata.namespace, pod.metadata.name, "log"),
    query: parameters,
    accept: "text/plain, */*",
    cutAfter: maxBytes,
  });
  const asked = query(context, container);
  let answer = await context.client.send(request(asked));
  if (!answer.cut) return answer.text;
  let lines: number | undefined;
  const tails = asked.limitBytes === undefined ? TAILS : [];
  for (const tail of tails.filter((n) => asked.tailLines === undefined || n < Number(asked.tailLines))) {
    if (!answer.cut) break;
    answer = await context.client.send(request({ ...asked, tailLines: String(tail) }));
    lines = tail;
  }
  const what = `the log of ${pod.metadata.name}/${container} is longer than ${Math.floor(maxBytes / 1024)} KiB`;
  const shown = answer.cut ? "only its beginning was read" : `only its last ${lines} lines were read`;
  context.err(`note: ${what}: ${shown}; use --tail=N or --since=5m\n`);
  return answer.text;
}

export const logs: Verb = {
  name: ["logs"],
  access: "read",
  flags: {
    ...SELECTOR,
    ...ALL_NAMESPACES,
    container: { type: "string", short: "c" },
    previous: { type: "bool", short: "p" },
    timestamps: { type: "bool" },
    tail: { type: "int", default: -1 },
    since: { type: "duration", default: "0s" },
    "since-time": { type: "string" },
    "limit-bytes": { type: "int" },
    prefix: { type: "bool" },
    "all-containers": { type: "bool" },
    "all-pods": { type: "bool" },
    "ignore-errors": { type: "bool" },
    "max-log-requests": { type: "int", default: 5 },
    "pod-running-timeout": { type: "duration", default: "20s" },
    "insecure-skip-tls-verify-backend": { type: "bool" },
    follow: { type: "bool", short: "f", forbidden: "following never ends: leave -f out, and use --tail or --since" },
  },
  async run(context) {
    const { flags, args } = context;
    const selector = flags.string("selector");
    if ((args.length === 0 && selector === "") || args.length > 2)
      throw usageError(
        "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command\nSee 'kubectl logs -h' for help and examples",
      );
    if ((args.length === 2 && selector !== "") || (args.length === 1 && selector !== ""))
      throw usageError("only a selector (-l) or a POD name is allowed\nSee 'kubectl logs -h' for help and examples");
    if (args.length === 2) flags.set("container", args[1] as string);
    let sources: Source[];
    if (selector !== "") {
      const pods = await context.discovery.resolve("pods");
      const list = await listObjects(context, pods);
      if (list.length === 0) {
        context.err(`No resources found in ${context.namespace} namespace.\n`);
        return;
      }
      sources = list.flatMap((pod) => pick(context, pod));
    } else {
      const word = args[0] as string;
      const [target] = word.includes("/")
        ? await selectTargets(context, [word])
        : [{ resource: await context.discovery.resolve("pods"), name: word }];
      if (!target) return;
      let pods: any[];
      try {
        pods = await podsOf(context, target.resource, target.name as string);
      } catch (error) {
        if (error instanceof ApiError && error.notFound && word.includes("/"))
          throw new KubectlError(
            `error: error from server (NotFound): ${error.message} in namespace "${context.namespace}"`,
          );
        if (error instanceof ApiError && error.notFound)
          throw new KubectlError(
            `error: error from server (NotFound): ${error.message} in namespace "${context.namespace}"`,
          );
        throw error;
      }
      const all = flags.bool("all-pods");
      if (!all && pods.length > 1) context.err(`Found ${pods.length} pods, using pod/${pods[0].metadata.name}\n`);
      sources = (all ? pods : pods.slice(0, 1)).flatMap((pod) => pick(context, pod));
    }
    const share = Math.min(MAX_BYTES_OF_ONE, Math.max(MIN_BYTES_OF_ONE, Math.floor(MAX_LOG_BYTES / sources.length)));
    for (const source of sources) {
      const { pod, container, field } = source;
      try {
        const text = await readLog(context, source, share);
        const prefix = flags.bool("prefix") || flags.bool("all-pods") ? `[pod/${pod.metadata.name}/${container}] ` : "";
        context.out(prefix ? text.replace(/^(?=.)/gm, prefix) : text);
      } catch (error) {
        if (!flags.bool("ignore-errors")) throw error;
        context.err(`error: ${plainMessage(error)} (${field})\n`);
      }
    }
  },
};
