import { describe, expect, it } from "vitest";
import { parseAddress, readAddress } from "../../../testbed/traffic/address.js";

describe("parseAddress", () => {
  it.each([
    ["cart:8080", undefined, { host: "cart", port: 8080 }],
    ["cart", 6379, { host: "cart", port: 6379 }],
    ["http://email:8080", undefined, { host: "email", port: 8080 }],
    ["http://email", undefined, { host: "email", port: 80 }],
    ["https://email/path?x=1", undefined, { host: "email", port: 443, database: "path" }],
    ["quote:0000", undefined, { host: "quote", port: 0 }],
    ["  cart.shop.svc.cluster.local:80 ", undefined, { host: "cart.shop.svc.cluster.local", port: 80 }],
    ["10.96.0.7:5432", undefined, { host: "10.96.0.7", port: 5432 }],
    [
      "postgres://user:pass%40word@db/catalog?sslmode=disable",
      5432,
      { host: "db", port: 5432, user: "user", password: "pass@word", database: "catalog" },
    ],
    ["postgres://u:100%@db/d", 5432, { host: "db", port: 5432, user: "u", password: "100%", database: "d" }],
    ["redis://:secret@valkey:6380", 6379, { host: "valkey", port: 6380, password: "secret" }],
    [
      "Host=db;Username=u;Password=p;Database=d",
      5432,
      { host: "db", port: 5432, user: "u", password: "p", database: "d" },
    ],
    ["Server=db; Port=6543; User Id=u", 5432, { host: "db", port: 6543, user: "u" }],
  ])("%s", (text, port, wanted) => {
    expect(parseAddress(text, port)).toEqual({ ...wanted, name: `${wanted.host}:${wanted.port}` });
  });

  it.each([
    ["cart", undefined, "missing port"],
    ["cart:http", undefined, "invalid port"],
    ["cart:99999", undefined, "invalid port"],
    [":8080", undefined, "names no host"],
    ["Username=u;Password=p", 5432, "no Host"],
    ["Host=db;Port=x", 5432, "invalid Port"],
  ])("%s is refused", (text, port, problem) => {
    expect(parseAddress(text, port)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe("readAddress", () => {
  const variables = new Map([
    ["CART_ADDR", "cart:8080"],
    ["FLAGD_HOST", "flagd"],
    ["FLAGD_PORT", "8013"],
    ["EMPTY", ""],
  ]);
  it.each([
    [{ env: "CART_ADDR" }, { host: "cart", port: 8080 }],
    [
      { hostEnv: "FLAGD_HOST", portEnv: "FLAGD_PORT" },
      { host: "flagd", port: 8013 },
    ],
    [
      { host: "fixed", port: 1 },
      { host: "fixed", port: 1 },
    ],
    [{ env: "EMPTY" }, { problem: "EMPTY is not set" }],
    [{ env: "ABSENT" }, { problem: "ABSENT is not set" }],
    [{ hostEnv: "FLAGD_HOST", portEnv: "ABSENT" }, { problem: "ABSENT is not set" }],
  ])("%j", (source, wanted) => {
    expect(readAddress(source, variables)).toMatchObject(wanted);
  });
});
