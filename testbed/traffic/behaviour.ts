/**
 * How an application behaves, as data: which requests its users send, and what each program does with one. The traffic
 * engine interprets it; nothing in it names a fault. What fails, fails because of the state of the cluster.
 */

/** Decides the wording of errors and the shape of log lines. */
export type Language =
  | "go"
  | "java"
  | "kotlin"
  | "dotnet"
  | "node"
  | "python"
  | "ruby"
  | "php"
  | "rust"
  | "cpp"
  | "elixir"
  | "envoy"
  | "nginx"
  | "k6"
  | "native";

export type Protocol = "grpc" | "http" | "postgres" | "redis" | "kafka";

/**
 * Where a client looks for a server: a variable of its container that holds `host:port`, a URL or a connection string
 * (`Host=...;Port=...`), or two variables. `port` is the protocol's own where the address names none.
 */
export type AddressSource =
  | { env: string; port?: number }
  | { hostEnv: string; portEnv: string }
  | { host: string; port: number };

/** A flag of flagd, and what a program does where it is set. */
export interface FlagEffect {
  flag: string;
  /** fail: the request fails, with the flag's value as its probability; delay: value × `ms`; slow: latency × `factor`. */
  effect: "fail" | "delay" | "slow";
  ms?: number;
  factor?: number;
  /** Share of requests that the flag can touch (one product of ten: 0.1). Default: all. */
  share?: number;
  /** Error text and gRPC code (or HTTP status) of `fail`. */
  message?: string;
  code?: string;
  /** Cores and bytes a second that the flag makes the program burn or leak, beside its load. */
  cores?: number;
  leakBytesPerSecond?: number;
}

/** One request to another program. */
export interface Call {
  /** Who answers in health; the topology's CALLS edge. Who answers in fact follows from the address. */
  to: string;
  address: AddressSource;
  protocol: Protocol;
  /** The callee's operation. */
  operation: string;
  /** Name of the caller's client span; absent: no span. */
  span?: string;
  /** Calls per request; default 1. */
  times?: number;
  /** Probability that a request makes this call; default 1. */
  chance?: number;
  /** How long the client waits for an answer that does not come; default 5,000. */
  timeoutMs?: number;
  /** A circuit breaker: where requests wait longer than this at the callee, the caller sends it no more. */
  shedMs?: number;
  /** The caller goes on when the call fails. */
  optional?: boolean;
  /** Made only where the caller's variable has this value (case ignored), or, with `unless`, has another one. */
  when?: { env: string; equals: string };
  unless?: { env: string; equals: string };
  /** Where the flag is on, the caller uses this address instead. */
  redirect?: { flag: string; address: string };
}

/** One message to a topic. */
export interface Publish {
  /** The topic's name comes from this variable. */
  publish: { env: string };
  address: AddressSource;
  span: string;
  optional?: boolean;
  /** Time until the producer gives up. */
  timeoutMs: number;
  /** Messages beside the first, a flag's value. */
  extra?: { flag: string };
  /** What happens where the producer could not be made when the program started (see `Dependency.onFailure`). */
  withoutProducer?: Crash;
}

/** Work inside a program that has its own span. */
export interface Internal {
  internal: string;
  ms: number;
  steps?: readonly Step[];
}

export type Step = Call | Publish | Internal;

export interface Crash {
  code: number;
  /** Lines that it prints last. */
  log: readonly string[];
}

/** What a program does with a request. Latencies are lognormal: median `ms`, deviation `spread` of the logarithm. */
export interface Operation {
  /** Name of the server's (consumer's) span; absent: no span. */
  span?: string;
  kind?: "server" | "consumer" | "internal";
  ms: number;
  /** Default 0.35. */
  spread?: number;
  steps?: readonly Step[];
  effects?: readonly FlagEffect[];
  /** Attributes of the span, equal for all requests. */
  attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Line printed for a request that went well, and one for one that did not; `{name}` stands for a value of the request. */
  log?: string;
  errorLog?: string;
  /** CPU milliseconds that one request costs, where it is not the program's `cpuMs`. */
  cpuMs?: number;
  /** A consumer's error for a message that it has had already (`extra` of a Publish repeats messages). */
  duplicate?: { message: string };
  /** The program's own counter of requests that went well: `app_payment_transactions_total`. */
  counter?: string;
  /** How the program words its own failure when a step fails: `failed to get cart: {error}`. Default: `{error}`. */
  failure?: string;
}

/** A server that a program connects to when it starts. */
export interface Dependency {
  address: AddressSource;
  protocol: Protocol;
  /** exit: the program ends; degrade: it runs on without (see `Publish.withoutProducer`). */
  onFailure: "exit" | "degrade";
  /** Only a name that does not resolve counts, a refused connection is retried for ever. */
  nameOnly?: boolean;
  afterMs: number;
  code?: number;
  log: readonly string[];
}

/** A member of a consumer group. */
export interface Consumer {
  address: AddressSource;
  topic: { env: string };
  group: string;
  /** Operation run for each message. */
  operation: string;
  /** Messages a second that one process can take. */
  perSecond: number;
  /** Where the flag is on, this many instead. */
  slowdown?: { flag: string; perSecond: number };
}

export interface Listen {
  /** The port: a variable (a number, or text with `:port` in it), a command line argument, or a constant, in this order. */
  env?: string;
  arg?: string;
  port?: number;
  protocol: Protocol;
}

/** A program: what an image runs when its command is not overridden. */
export interface Program {
  language: Language;
  /** Image repositories, or the part of a tag after the version (`demo:3.0.0-cart`: `cart`). */
  image: string;
  /** Executables of the image that start this program, as a container's `command` may name them. */
  entrypoint?: readonly string[];
  /** True where the image has a shell and the usual tools. */
  shell?: boolean;
  listens?: readonly Listen[];
  /** Variables without which the program ends at once. */
  mustHave?: readonly string[];
  dependencies?: readonly Dependency[];
  operations?: Readonly<Record<string, Operation>>;
  consumes?: readonly Consumer[];
  /** Lines printed at start. */
  banner?: readonly string[];
  /** Idle use; `memoryBytes` grows by a little noise. Cores of load: see `cpuMs`. */
  idle: { cpuCores: number; memoryBytes: number };
  /** CPU milliseconds a request costs; default 1. */
  cpuMs?: number;
  /**
   * Cores that it can keep busy with requests; default 4, and never more than its CPU limit. Work beyond that queues:
   * every request then waits for the queue.
   */
  cores?: number;
  /** Less memory than this (limit), and the kernel kills it soon after start. */
  needsBytes?: number;
  /** Flag-driven use of resources, whatever requests come. */
  burdens?: readonly FlagEffect[];
  role?: "broker" | "flags" | "database";
  /** Line that a server prints when it does not let somebody in; `{error}` is why. */
  refusalLog?: string;
}

/** The broker's topics. */
export interface TopicRules {
  /**
   * A simplification of ours: when a group that the application declares is this many messages behind, the broker
   * throttles producers beyond their timeout, and drops the oldest messages. So a consumer that is gone is felt by the
   * producer, as ITBench's scenario 58 expects; a real broker keeps messages until its retention ends.
   */
  backlogLimit: number;
  partitions: number;
}

/** A user's task: requests in order, in one trace. */
export interface Flow {
  name: string;
  weight: number;
  requests: readonly UserRequest[];
  /** Times this flow is done more, a flag's value. */
  flood?: string;
  /** Only where the load generator's variable has this value. */
  when?: { env: string; equals: string };
}

export interface UserRequest {
  method: "GET" | "POST" | "DELETE";
  path: string;
  /** Operation of the entry program. */
  operation: string;
  times?: number;
}

export interface Users {
  /** The program that plays them. */
  program: string;
  target: AddressSource;
  /** Who answers in health. */
  entry: string;
  users: { env: string; flag?: string };
  spawnRate: { env: string; default: number };
  /** The flag that pauses all traffic. */
  pause?: string;
  /** Mean seconds between two tasks of one user. */
  thinkSeconds: number;
  flows: readonly Flow[];
}

export interface Behaviour {
  programs: Readonly<Record<string, Program>>;
  users?: Users;
  topics?: TopicRules;
  /** How a program reaches flagd; a program without these variables sees every flag at its default. */
  flags?: { address: AddressSource; program: string; span: string };
  /** Values that log lines and attributes draw from: `{product}`, `{currency}` ... */
  values: Readonly<Record<string, readonly string[]>>;
  /** `service.namespace` of its spans. */
  serviceNamespace: string;
  /** Images beside the manifests' that exist: `repository` and the tags that do. */
  images?: Readonly<Record<string, readonly string[]>>;
}
