import { describe, expect, it } from "vitest";
import { EXTRA_TOOLS } from "../../../agents/index.js";
import { extraTools } from "../../../harness/cli/parse.js";

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
