/** How failures read in each language: what a program prints and puts on its spans when a connection fails. */
import type { Language, Protocol } from "./behaviour.js";

export type FailureKind =
  | "dns"
  | "refused"
  | "timeout"
  /** The address cannot be used: a variable that is not set, a port that is none. */
  | "address"
  /** Something else listens there, or the server has no such operation. */
  | "protocol"
  /** The server closed the connection before it answered. */
  | "reset"
  /** The caller's own circuit breaker is open. */
  | "overflow"
  | "credentials"
  /** The server answered with an error. */
  | "application";

export interface Failure {
  kind: FailureKind;
  /** gRPC code name. */
  code: string;
  /** HTTP status that a server answers with when it fails for this. */
  status: number;
  /** The error in the words of the program that saw it. */
  text: string;
}

export interface Attempt {
  language: Language;
  protocol: Protocol;
  host: string;
  port: number;
  ip: string;
  dnsServer: string;
  timeoutMs: number;
  user?: string;
  database?: string;
}

const CODES: Record<Exclude<FailureKind, "application">, string> = {
  dns: "UNAVAILABLE",
  refused: "UNAVAILABLE",
  timeout: "DEADLINE_EXCEEDED",
  address: "UNAVAILABLE",
  protocol: "UNIMPLEMENTED",
  reset: "UNAVAILABLE",
  overflow: "UNAVAILABLE",
  credentials: "INTERNAL",
};

/** The failure of an attempt, in the caller's words; `detail` is what an unusable address is about. */
export function attemptFailure(kind: Exclude<FailureKind, "application">, attempt: Attempt, detail = ""): Failure {
  const code = CODES[kind];
  return { kind, code, status: kind === "timeout" ? 504 : 503, text: wording(kind, attempt, code, detail) };
}

/** An answer that says no, as the caller words it; HTTP clients see a status, gRPC clients code and message. */
export function answeredFailure(language: Language, protocol: Protocol, answer: Failure): Failure {
  if (protocol === "http") {
    return { kind: "application", code: "INTERNAL", status: 500, text: httpStatusError(language, answer) };
  }
  return { kind: "application", code: answer.code, status: 500, text: grpcError(language, answer.code, answer.text) };
}

function wording(kind: Exclude<FailureKind, "application">, attempt: Attempt, code: string, detail: string): string {
  if (attempt.protocol === "postgres") return databaseError(kind, attempt, detail);
  if (attempt.protocol === "redis") return redisError(kind, attempt, detail);
  if (attempt.protocol === "kafka") return kafkaError(kind, attempt, detail);
  const cause = socketError(kind, attempt, detail);
  if (attempt.protocol === "http") return httpError(attempt, kind, cause);
  return grpcError(attempt.language, code, grpcDetail(attempt, kind, cause));
}

/** The operating system's complaint, as the language's library passes it on. */
function socketError(
  kind: FailureKind,
  { language, host, port, ip, dnsServer, timeoutMs }: Attempt,
  detail: string,
): string {
  const at = `${ip || host}:${port}`;
  if (kind === "address") return detail;
  switch (language) {
    case "go":
      if (kind === "dns") return `dial tcp: lookup ${host} on ${dnsServer}:53: no such host`;
      if (kind === "timeout") return `dial tcp ${at}: i/o timeout`;
      return kind === "reset" ? "error reading from server: EOF" : `dial tcp ${at}: connect: connection refused`;
    case "node":
    case "k6":
      if (kind === "dns") return `getaddrinfo ENOTFOUND ${host}`;
      if (kind === "timeout") return `connect ETIMEDOUT ${at}`;
      return kind === "reset" ? "read ECONNRESET" : `connect ECONNREFUSED ${at}`;
    case "java":
    case "kotlin":
      if (kind === "dns") return `java.net.UnknownHostException: ${host}: Name or service not known`;
      if (kind === "timeout") return `connection timed out after ${timeoutMs} ms: ${host}/${at}`;
      return kind === "reset" ? "Connection reset by peer" : `Connection refused: ${host}/${at}`;
    case "dotnet":
      if (kind === "dns") return `Name or service not known (${host}:${port})`;
      if (kind === "timeout") return `Connection timed out (${host}:${port})`;
      return kind === "reset" ? "The response ended prematurely." : `Connection refused (${host}:${port})`;
    case "rust":
      if (kind === "dns") return "failed to lookup address information: Name or service not known";
      if (kind === "timeout") return "operation timed out";
      return kind === "reset"
        ? "connection closed before message completed"
        : "tcp connect error: Connection refused (os error 111)";
    case "ruby":
      if (kind === "dns")
        return `Failed to open TCP connection to ${host}:${port} (getaddrinfo: Name or service not known)`;
      if (kind === "timeout") return "Net::OpenTimeout";
      return `Failed to open TCP connection to ${host}:${port} (Connection refused - connect(2) for "${host}" port ${port})`;
    case "php":
      if (kind === "dns") return `Could not resolve host: ${host}`;
      return `Failed to connect to ${host} port ${port} after ${kind === "timeout" ? timeoutMs : 1} ms: Couldn't connect to server`;
    case "python":
      if (kind === "dns")
        return `DNS resolution failed for ${host}:${port}: C-ares status is not ARES_SUCCESS qtype=A name=${host}: Domain name not found`;
      if (kind === "timeout") return `connection attempt timed out: ipv4:${at}`;
      if (kind === "reset") return "Socket closed";
      return `ipv4:${at}: Failed to connect to remote host: connect: Connection refused (111)`;
    case "envoy":
      if (kind === "dns") return "no healthy upstream";
      if (kind === "timeout") return "upstream request timeout";
      if (kind === "overflow")
        return "upstream connect error or disconnect/reset before headers. reset reason: overflow";
      if (kind === "reset")
        return "upstream connect error or disconnect/reset before headers. reset reason: connection termination";
      return "upstream connect error or disconnect/reset before headers. retried and the latest reset reason: remote connection failure, transport failure reason: delayed connect error: Connection refused";
    default:
      if (kind === "dns") return `could not resolve host: ${host}`;
      return kind === "timeout" ? `connect to ${at}: Connection timed out` : `connect to ${at}: Connection refused`;
  }
}

function grpcDetail({ language, host, port, timeoutMs }: Attempt, kind: FailureKind, cause: string): string {
  if (kind === "protocol") return "unknown service or method";
  if (language === "go") {
    if (kind === "timeout") return `context deadline exceeded while waiting for connections to become ready`;
    if (kind === "reset") return cause;
    if (kind === "dns") return `name resolver error: produced zero addresses: ${cause}`;
    return `connection error: desc = "transport: Error while dialing: ${cause}"`;
  }
  if (language === "node") {
    if (kind === "dns") return `Name resolution failed for target dns:${host}:${port}`;
    if (kind === "timeout")
      return `Deadline exceeded after ${(timeoutMs / 1000).toFixed(3)}s,name resolution: 0.001s,remote_addr=${host}:${port}`;
    return `No connection established. Last error: Error: ${cause}`;
  }
  if (language === "python" && kind !== "dns")
    return `failed to connect to all addresses; last error: UNKNOWN: ${cause}`;
  if (language === "java" || language === "kotlin") return `io exception: ${cause}`;
  return cause;
}

/** A gRPC error as the language's library prints it. */
function grpcError(language: Language, code: string, detail: string): string {
  switch (language) {
    case "go":
      return `rpc error: code = ${goCode(code)} desc = ${detail}`;
    case "node":
      return `${grpcStatus(code)} ${code}: ${detail}`;
    case "python":
      return `<_InactiveRpcError of RPC that terminated with: status = StatusCode.${code} details = "${detail}">`;
    case "dotnet":
      return `Status(StatusCode="${goCode(code)}", Detail="${detail}")`;
    case "rust":
      return `status: ${goCode(code)}, message: "${detail}"`;
    default:
      return `${code}: ${detail}`;
  }
}

const CODE_NUMBERS: Record<string, number> = {
  UNKNOWN: 2,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
};

/** The number of a gRPC code. */
export function grpcStatus(code: string): number {
  return CODE_NUMBERS[code] ?? 2;
}

/** `DEADLINE_EXCEEDED` as `DeadlineExceeded`. */
function goCode(code: string): string {
  return code
    .toLowerCase()
    .split("_")
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join("");
}

function httpError({ language, host, port }: Attempt, kind: FailureKind, cause: string): string {
  const url = `http://${host}:${port}`;
  if (kind === "protocol")
    return language === "envoy" ? "upstream reset: protocol error" : `${url}: malformed HTTP response`;
  switch (language) {
    case "go":
      return `Post "${url}": ${cause}`;
    case "node":
      return `fetch failed: ${cause}`;
    case "rust":
      return `error sending request for url (${url}/): client error (Connect): ${cause}`;
    case "python":
      return `HTTPConnectionPool(host='${host}', port=${port}): Max retries exceeded: ${cause}`;
    default:
      return cause;
  }
}

function httpStatusError(language: Language, answer: Failure): string {
  const status = answer.status;
  switch (language) {
    case "go":
      return `expected 200, got ${status}`;
    case "rust":
      return `HTTP status server error (${status} Internal Server Error)`;
    case "python":
      return `${status} Server Error: Internal Server Error`;
    case "envoy":
      return "-";
    default:
      return `HTTP ${status}`;
  }
}

function databaseError(kind: FailureKind, attempt: Attempt, detail: string): string {
  const npgsql = attempt.language === "dotnet";
  if (kind === "credentials") {
    const what = detail || `password authentication failed for user "${attempt.user ?? ""}"`;
    const code = detail.startsWith("database") ? "3D000" : "28P01";
    return npgsql ? `Npgsql.PostgresException (0x80004005): ${code}: ${what}` : `pq: ${what} (${code})`;
  }
  const cause =
    kind === "protocol" ? "received invalid response to SSL negotiation" : socketError(kind, attempt, detail);
  return npgsql
    ? `Npgsql.NpgsqlException (0x80004005): Failed to connect to ${attempt.ip || attempt.host}:${attempt.port}: ${cause}`
    : cause;
}

function redisError(kind: FailureKind, attempt: Attempt, detail: string): string {
  const reason = kind === "credentials" ? "AuthenticationFailure" : "UnableToConnect";
  return `StackExchange.Redis.RedisConnectionException: It was not possible to connect to the redis server(s). ${reason} on ${attempt.host}:${attempt.port}/Interactive: ${socketError(kind, attempt, detail)}`;
}

function kafkaError(kind: FailureKind, attempt: Attempt, detail: string): string {
  const at = `${attempt.host}:${attempt.port}`;
  const cause = socketError(kind, attempt, detail);
  switch (attempt.language) {
    case "dotnet":
      return `%3|FAIL|rdkafka#consumer-1| [thrd:${at}/bootstrap]: ${at}/bootstrap: Connect to ipv4#${attempt.ip || attempt.host}:${attempt.port} failed: ${cause}`;
    case "java":
    case "kotlin":
      return `org.apache.kafka.clients.NetworkClient - Connection to node -1 (${attempt.host}/${attempt.ip}:${attempt.port}) could not be established. Node may not be available. ${cause}`;
    default:
      return cause;
  }
}
