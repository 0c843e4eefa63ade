import { describe, expect, it } from "vitest";
import { parseFlags } from "../../../testbed/traffic/flags.js";

const file = (flag: object) => JSON.stringify({ flags: { f: flag } });
const variants = { off: false, on: true, "50%": 0.5 };

describe("parseFlags", () => {
  it.each([
    ["its default variant", { state: "ENABLED", variants, defaultVariant: "on" }, true],
    ["a share", { state: "ENABLED", variants, defaultVariant: "50%" }, 0.5],
    ["nothing when disabled", { state: "DISABLED", variants, defaultVariant: "on" }, undefined],
    ["nothing for an unknown variant", { state: "ENABLED", variants, defaultVariant: "maybe" }, undefined],
    [
      "what targeting gives to all",
      { state: "ENABLED", variants, defaultVariant: "off", targeting: { if: [{}, "on", "on"] } },
      true,
    ],
    [
      "its default where targeting decides",
      { state: "ENABLED", variants, defaultVariant: "off", targeting: { if: [{}, "on", "off"] } },
      false,
    ],
    ["its default with empty targeting", { state: "ENABLED", variants, defaultVariant: "on", targeting: {} }, true],
  ])("gives a flag %s", (_, flag, wanted) => {
    expect(parseFlags(file(flag)).get("f")).toBe(wanted);
  });

  it.each(["", "{", "[]", "null", '{"flags":1}'])("refuses %j", (text) => {
    expect(() => parseFlags(text)).toThrow();
  });
});
