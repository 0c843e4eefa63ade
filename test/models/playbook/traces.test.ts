import { describe, expect, it } from "vitest";
import { parseFailures } from "../../../models/playbook/traces.js";

const REFUSED = `traces of service web, tags error=true: 9 traces
service  spans  errors  median   max
web      112    28      3.36 ms  31.1 ms

7 traces of this shape, such as f9c6 at 09:14:26 (42 spans, 6 errors):
  users: buy  44.6 ms  ERROR
    users: POST  10.3 ms  (and 11 spans below, without error)
    users: POST  7.8 ms  ERROR  server.address=web:8080  exception.message=HTTP 500
      web: POST /buy  6.49 ms  ERROR  http.response.status_code=500
        web: shop.Shop/Order  952 us  ERROR  rpc.grpc.status_code=14  server.address=shop:8080  exception.message=14 UNAVAILABLE: No connection

2 traces of this shape, such as 15a0 at 09:14:25 (18 spans, 6 errors):
  users: browse  18.4 ms  ERROR
    web: GET /  8 ms  ERROR
      shop: List  3 ms  ERROR  exception.message=out of stock`;

describe("parseFailures", () => {
  it("follows each shape to its last failed call", () => {
    expect(parseFailures(REFUSED)).toEqual([
      { path: ["users", "web"], peer: "shop", message: "14 UNAVAILABLE: No connection" },
      { path: ["users", "web", "shop"], message: "out of stock" },
    ]);
  });

  it.each([
    ["nothing", ""],
    ["no traces", "traces of service web: no trace matches"],
    ["healthy traces", "1 trace of this shape, such as a at b:\n  users: GET  1 ms\n    web: GET /  1 ms"],
    ["a failed tool", "no answer from http://127.0.0.1:1"],
  ])("says nothing of %s", (_name, text) => {
    expect(parseFailures(text)).toEqual([]);
  });

  it("does not mix the branches of a tree", () => {
    const text = `1 trace of this shape:
  users: buy  44 ms  ERROR
    web: A  1 ms  ERROR
      shop: B  1 ms  ERROR
    web: C  1 ms  ERROR`;
    expect(parseFailures(text)).toEqual([{ path: ["users", "web", "shop"], message: "" }]);
  });
});
