import { describe, expect, it } from "vitest";
import { EXTRA_TOOLS } from "../../../agents/index.js";
import { extraTools, url } from "../../../harness/cli/parse.js";

describe("--extra-tools", () => {
  it.each<[string, readonly string[]]>([
    ["all", EXTRA_TOOLS],
    ["none", []],
    ["topology", ["topology"]],
    ["nl2script, Log-Patterns", ["log_patterns", "nl2script"]],
    ["changes,changes,", ["changes"]],
  ])("%s", (text, names) => expect(extraTools(text)).toEqual(names));

  it.each(["", "all,topology", "none,changes", "topologies"])("refuses %j", (text) => {
    expect(() => extraTools(text)).toThrow(/give all, none, or some of/);
  });
});

describe("addresses", () => {
  it.each<[string, string]>([
    ["http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"],
    ["https://gpu.example.org/", "https://gpu.example.org"],
  ])("%s", (text, address) => expect(url(text)).toBe(address));

  it.each(["", "gpu", "localhost:8000", "127.0.0.1:8000/v1", "ftp://gpu", "file:///etc/passwd", "http://"])(
    "refuses %j",
    (text) => expect(() => url(text)).toThrow(/http:\/\/ or https:\/\//),
  );
});
