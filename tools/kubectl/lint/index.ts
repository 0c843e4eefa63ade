/**
 * What is wrong with a kubectl command before it runs: first how it is written, then what the server knows of it: kinds,
 * names, namespaces, and for a write whether the server would take it.
 */
import type { Finding } from "../../lint/finding.js";
import { didYouMean, listing, nearest } from "../../suggest.js";
import { Discovery, type Resource } from "../client/discovery.js";
import { RestClient } from "../client/rest.js";
import { type Context, createContext } from "../context.js";
import { ApiError, errorText, KubectlError } from "../errors.js";
import { changesNothing, type Policy } from "../guard.js";
import { checkScope } from "../scope.js";
import { findingAt } from "./places.js";
import { RehearsalClient, RehearsalEnd } from "./rehearsal.js";
import { type ReadCommand, readCommand } from "./syntax.js";

export interface KubectlLinterOptions {
  kubeconfig: string;
  mode: "read-only" | "read-write";
  /** The application's namespaces; the only ones that may be written to. */
  namespaces: readonly string[];
  /** The environment's time in milliseconds since the epoch. */
  now(): number;
}

/** Verbs whose objects may well be missing: that they are is then the answer, and running the command gives it. */
const MISSING_IS_AN_ANSWER = ["get", "describe", "wait", "top", "events"];
const SHOWN_NAMES = 20;

/** Lints commands against one server; discovery and connection are kept between them. */
export class KubectlLinter {
  private readonly options: KubectlLinterOptions;
  private readonly client: RestClient;
  private readonly discovery: Discovery;

  constructor(options: KubectlLinterOptions) {
    this.options = options;
    this.client = new RestClient({ kubeconfig: options.kubeconfig, timeout: 10 });
    this.discovery = new Discovery(this.client);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Findings, none for a command that can run. Nothing is changed; a server that does not answer has no say. */
  async lint(text: string, stdin?: string): Promise<Finding[]> {
    const { mode, namespaces } = this.options;
    const policy: Policy = { mode, ...(mode === "read-write" ? { namespaces } : {}) };
    const command = await readCommand(text, policy);
    if ("findings" in command) return command.findings;
    if (stdin === undefined && command.invocation.flags.list("filename").includes("-")) {
      const message = "the command reads a manifest from standard input, but there is none: add it in a yaml fence";
      return [findingAt(text, command.argv, '"-"', "-f", message)];
    }
    try {
      return await this.ask(text, command, policy, stdin);
    } catch (error) {
      if (silent(error)) return [];
      throw error;
    }
  }

  private async ask(text: string, command: ReadCommand, policy: Policy, stdin?: string): Promise<Finding[]> {
    const { invocation, argv } = command;
    const { verb, flags } = invocation;
    const patch = flags.string("patch");
    const at = (message: string, shown = message) =>
      // Of a patch that the server turns down, the patch is what is wrong.
      /patch: Invalid|decoding patch|server rejected|is invalid|cannot be handled|unmarshal/.test(message) &&
      patch !== ""
        ? findingAt(text, argv, `"${patch}"`, patch, shorten(shown))
        : findingAt(text, argv, message, verb.name.at(-1), shorten(shown));
    const missingNamespace = await this.namespaceFinding(flags.string("namespace"), invocation, at);
    if (missingNamespace !== undefined) return [missingNamespace];

    const writes = verb.access === "write";
    const client = new RehearsalClient(this.client, writes || verb.name[0] === "logs");
    const errors: unknown[] = [];
    const { context } = await createContext({
      client,
      discovery: this.discovery,
      flags,
      ...(stdin === undefined ? {} : { stdin }),
      maskSecrets: true,
      now: this.options.now,
      sleep: async () => {
        throw new RehearsalEnd();
      },
    });
    context.fail = (error) => void errors.push(error);
    let path = "";
    try {
      const why = writes && !changesNothing(invocation) ? await checkScope(context, verb.name, policy) : undefined;
      if (why !== undefined) return [at(`refused: ${why}`)];
      await verb.run(context);
    } catch (error) {
      if (error instanceof RehearsalEnd) path = error.path;
      else errors.push(error);
    }
    path ||= errors.find((error) => error instanceof RehearsalEnd)?.path ?? "";
    const lost = await this.unnamedNamespace(context, client.missing[0] ?? path, argv, text);
    if (lost !== undefined) return [lost];
    const findings: Finding[] = [];
    for (const error of errors.flatMap(flatten)) {
      if (error instanceof RehearsalEnd || silent(error)) continue;
      const finding = await this.findingOf(error, context, client.missing, verb.name[0]!, at);
      if (finding !== undefined) findings.push(finding);
    }
    return findings;
  }

  /** `-n` with a namespace that is not there: lists in it are empty, which reads like an answer. */
  private async namespaceFinding(
    namespace: string,
    { verb, flags }: ReadCommand["invocation"],
    at: (message: string, shown?: string) => Finding,
  ): Promise<Finding | undefined> {
    if (namespace === "" || flags.bool("all-namespaces") || verb.access === "none") return undefined;
    try {
      await this.client.json({ path: `/api/v1/namespaces/${encodeURIComponent(namespace)}` });
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError && error.notFound)) return undefined;
    }
    const names = await this.names("/api/v1/namespaces");
    // A server that knows no namespaces at all keeps them to itself.
    if (names.length === 0) return undefined;
    const near = didYouMean(namespace, names, 2);
    return at(
      `"${namespace}"`,
      `there is no namespace "${namespace}"${near === "" ? `; there are: ${listing(names, SHOWN_NAMES)}` : near}`,
    );
  }

  /** No namespace was named, and the one that is looked in by default holds nothing of the kind. */
  private async unnamedNamespace(
    context: Context,
    path: string,
    argv: readonly string[],
    text: string,
  ): Promise<Finding | undefined> {
    const { namespaces } = this.options;
    const scope = `/namespaces/${context.namespace}/`;
    if (context.namespaceGiven || context.allNamespaces || namespaces.length === 0) return undefined;
    if (namespaces.includes(context.namespace) || !path.includes(scope)) return undefined;
    const [before, after] = path.split(scope) as [string, string];
    const elsewhere: string[] = [];
    const [kind, name] = after.split("/") as [string, string | undefined];
    if ((await this.there(`${before}${scope}${kind}`, name)) !== false) return undefined;
    for (const namespace of namespaces)
      if (await this.there(`${before}/namespaces/${namespace}/${kind}`, name)) elsewhere.push(namespace);
    if (elsewhere.length === 0) return undefined;
    const what = name === undefined ? kind : `${kind} "${decodeURIComponent(name)}"`;
    const message = `no namespace is named, and "${context.namespace}" has no ${what}: add -n ${elsewhere.join(" or -n ")}${name === undefined ? ", or -A to read all" : ""}`;
    return findingAt(
      text,
      argv,
      name === undefined ? "" : `"${decodeURIComponent(name)}"`,
      argv[2] ?? argv[1],
      message,
    );
  }

  /** Is there an object of this name, or any; undefined when the server does not say. */
  private async there(list: string, name: string | undefined): Promise<boolean | undefined> {
    try {
      if (name === undefined)
        return ((await this.client.json({ path: list, query: { limit: "1" } })).items ?? []).length > 0;
      await this.client.json({ path: `${list}/${name}` });
      return true;
    } catch (error) {
      return error instanceof ApiError && error.notFound ? false : undefined;
    }
  }

  private async findingOf(
    error: unknown,
    context: Context,
    missing: readonly string[],
    verb: string,
    at: (message: string, shown?: string) => Finding,
  ): Promise<Finding | undefined> {
    if (error instanceof ApiError && error.notFound) {
      const name = error.status.details?.name ?? /"([^"]+)" not found/.exec(error.message)?.[1];
      const path = missing.find((one) => decodeURIComponent(one).endsWith(`/${name}`));
      if (name === undefined || path === undefined || context.flags.bool("ignore-not-found")) return undefined;
      const names = await this.names(path.slice(0, path.lastIndexOf("/")));
      const near = nearest(name, names);
      if (near.length === 0 && MISSING_IS_AN_ANSWER.includes(verb)) return undefined;
      const kind = path.split("/").at(-2);
      const where = path.includes("/namespaces/") ? ` in ${context.namespace}` : "";
      const hint =
        near.length > 0
          ? `; did you mean ${near.join(", ")}?`
          : names.length === 0
            ? ""
            : `; there are: ${listing(names, SHOWN_NAMES)}`;
      return at(`"${name}"`, `there is no ${kind} "${name}"${where}${hint}`);
    }
    const message = errorText(error);
    const kind = /the server doesn't have a resource type "([^"]+)"/.exec(message)?.[1];
    if (kind === undefined) return at(message);
    const known = await this.discovery.resources();
    return at(message, `${message}${didYouMean(kind, [...new Set(known.flatMap(kindNames))], 3)}`);
  }

  /** Names of the objects that `path` lists; none when the server keeps them. */
  private async names(path: string): Promise<string[]> {
    const list = await this.client
      .json({ path, query: { limit: "500" } })
      .catch(() => ({ items: [] }) as { items: any[] });
    return (list.items ?? []).map((item: any) => String(item.metadata?.name));
  }
}

function kindNames(resource: Resource): string[] {
  return [resource.name, resource.singular, ...resource.shortNames].filter((name) => name !== "");
}

/** A server may answer with the whole object. */
function shorten(message: string): string {
  return message.length > 700 ? `${message.slice(0, 400)} ... ${message.slice(-280)}` : message;
}

function flatten(error: unknown): unknown[] {
  return error instanceof AggregateError ? error.errors : [error];
}

/** Errors that say nothing of the command: no server, no right to look, a race, a server without dry runs. */
function silent(error: unknown): boolean {
  if (error instanceof ApiError) {
    const { code, reason } = error.status;
    if (/dry.?run/i.test(error.message)) return true;
    if (error.notFound) return false;
    return !(
      code === 400 ||
      code === 422 ||
      code === 415 ||
      reason === "Invalid" ||
      reason === "BadRequest" ||
      reason === "AlreadyExists"
    );
  }
  if (error instanceof KubectlError)
    return /is forbidden|connection to the server|unable to connect|not JSON|no such file|ENOENT|names no cluster|gave no answer/i.test(
      error.message,
    );
  return true;
}
