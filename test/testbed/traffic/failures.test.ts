import { describe, expect, it } from "vitest";
import type { Language, Protocol } from "../../../testbed/traffic/behaviour.js";
import { answeredFailure, attemptFailure, type FailureKind } from "../../../testbed/traffic/failures.js";

const attempt = (language: Language, protocol: Protocol) => ({
  language,
  protocol,
  host: "cart",
  port: 8080,
  ip: "10.96.0.50",
  dnsServer: "10.96.0.10",
  timeoutMs: 5000,
  user: "bob",
});

describe("a failed attempt reads as the language prints it", () => {
  it.each<[Language, Protocol, Exclude<FailureKind, "application">, string]>([
    [
      "go",
      "grpc",
      "refused",
      'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp 10.96.0.50:8080: connect: connection refused"',
    ],
    ["go", "grpc", "dns", "dial tcp: lookup cart on 10.96.0.10:53: no such host"],
    ["go", "grpc", "timeout", "code = DeadlineExceeded"],
    ["go", "grpc", "protocol", "code = Unimplemented"],
    ["go", "http", "refused", 'Post "http://cart:8080": dial tcp 10.96.0.50:8080: connect: connection refused'],
    ["go", "postgres", "credentials", 'pq: password authentication failed for user "bob"'],
    [
      "node",
      "grpc",
      "refused",
      "14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED 10.96.0.50:8080",
    ],
    ["node", "grpc", "dns", "14 UNAVAILABLE: Name resolution failed for target dns:cart:8080"],
    ["node", "grpc", "timeout", "4 DEADLINE_EXCEEDED"],
    ["node", "http", "dns", "getaddrinfo ENOTFOUND cart"],
    ["python", "grpc", "refused", "StatusCode.UNAVAILABLE"],
    ["python", "http", "refused", "HTTPConnectionPool(host='cart', port=8080)"],
    ["java", "grpc", "dns", "UnknownHostException: cart"],
    ["kotlin", "kafka", "refused", "could not be established"],
    ["dotnet", "redis", "refused", "RedisConnectionException"],
    ["dotnet", "postgres", "refused", "Npgsql.NpgsqlException"],
    ["dotnet", "kafka", "refused", "%3|FAIL|rdkafka"],
    ["rust", "http", "refused", "Connection refused (os error 111)"],
    ["php", "http", "dns", "Could not resolve host: cart"],
    ["ruby", "http", "refused", 'Connection refused - connect(2) for "cart" port 8080'],
    ["envoy", "http", "refused", "delayed connect error: Connection refused"],
    ["envoy", "http", "timeout", "upstream request timeout"],
    ["envoy", "http", "overflow", "reset reason: overflow"],
  ])("%s %s %s", (language, protocol, kind, text) => {
    expect(attemptFailure(kind, attempt(language, protocol)).text).toContain(text);
  });

  it("never without words", () => {
    const languages: Language[] = [
      "go",
      "java",
      "kotlin",
      "dotnet",
      "node",
      "python",
      "ruby",
      "php",
      "rust",
      "cpp",
      "elixir",
      "envoy",
      "nginx",
      "k6",
      "native",
    ];
    const kinds = ["dns", "refused", "timeout", "address", "protocol", "reset", "overflow", "credentials"] as const;
    for (const language of languages) {
      for (const protocol of ["grpc", "http", "postgres", "redis", "kafka"] as const) {
        for (const kind of kinds) {
          const { text, code } = attemptFailure(kind, attempt(language, protocol), "CART_ADDR is not set");
          expect(text, `${language} ${protocol} ${kind}`).not.toMatch(/undefined|^$/);
          expect(code).toMatch(/^[A-Z_]+$/);
        }
      }
    }
  });
});

it("an answer that says no is passed on with its code, or as a status", () => {
  const answer = { kind: "application", code: "FAILED_PRECONDITION", status: 500, text: "no cart" } as const;
  expect(answeredFailure("go", "grpc", answer).text).toBe("rpc error: code = FailedPrecondition desc = no cart");
  expect(answeredFailure("node", "grpc", answer).text).toBe("9 FAILED_PRECONDITION: no cart");
  expect(answeredFailure("go", "http", answer).text).toBe("expected 200, got 500");
});
