import { describe, expect, it } from "vitest";
import { addressesIn, expandVariables, siblingPort } from "../../../tools/topology/addresses.js";

describe("addressesIn", () => {
  it.each<[string, string, object[]]>([
    ["CART_ADDR", "cart:8080", [{ host: "cart", port: 8080, text: "cart:8080" }]],
    ["X", "http://cart:8080/a?b=c", [{ host: "cart", port: 8080, text: "http://cart:8080" }]],
    [
      "X",
      "http://cart.shop.svc.cluster.local/a",
      [{ host: "cart", namespace: "shop", text: "http://cart.shop.svc.cluster.local" }],
    ],
    ["X", "cart.shop:80", [{ host: "cart", namespace: "shop", port: 80, text: "cart.shop:80" }]],
    ["DB", "postgres://user:secret@db/orders?sslmode=off", [{ host: "db", text: "postgres://user:secret@db" }]],
    [
      "BROKERS",
      "kafka-0:9092,kafka-1:9092",
      [
        { host: "kafka-0", port: 9092, text: "kafka-0:9092" },
        { host: "kafka-1", port: 9092, text: "kafka-1:9092" },
      ],
    ],
    ["FLAGD_HOST", "flagd", [{ host: "flagd", text: "flagd" }]],
    ["REDIS_SERVER", "redis.shop", [{ host: "redis", namespace: "shop", text: "redis.shop" }]],
    ["MODE", "cart", []],
    ["X", "10.0.0.1:80", []],
    ["X", "localhost:80", []],
    ["X", "http://127.0.0.1:4317", []],
    ["X", "https://www.example.com/a", []],
    ["X", "https://example.com:443", []],
    ["X", "image/repository:1.2.3", []],
    ["X", "12:30", []],
    ["X", "key:70000", []],
    ["HOST", "settings.json", []],
    ["X", '{"time":15}', []],
  ])("%s=%s", (name, value, found) => expect(addressesIn(name, value)).toEqual(found));

  it("takes the port from the variable beside it", () => {
    const values = new Map([
      ["DB_HOST", "db"],
      ["DB_PORT", "5432"],
      ["OTHER_PORT", "1"],
    ]);
    expect(addressesIn("DB_HOST", "db", siblingPort("DB_HOST", values))).toEqual([
      { host: "db", port: 5432, text: "db" },
    ]);
    expect(siblingPort("CART_HOST", values)).toBeUndefined();
  });
});

it("expands variables as the kubelet does", () => {
  const earlier = new Map([["HOST", "collector"]]);
  expect(expandVariables("http://$(HOST):4317 $$(HOST) $(NONE)", earlier)).toBe(
    "http://collector:4317 $(HOST) $(NONE)",
  );
});
