import { describe, expect, it } from "vitest";
import { canonicalQuantity, compareQuantities, quantityValue } from "../../../testbed/kube/quantity.js";

describe("quantities", () => {
  it.each([
    ["0.5", "500m"],
    ["1", "1"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["0.125Gi", "128Mi"],
    ["1024Mi", "1Gi"],
    ["1536Mi", "1536Mi"],
    ["512", "512"],
    ["0.5Ki", "512"],
    ["1.5Gi", "1536Mi"],
    ["1e3", "1e3"],
    ["1E6", "1e6"],
    ["2000", "2k"],
    ["128974848", "128974848"],
    ["100u", "100u"],
    ["0", "0"],
    ["0Mi", "0"],
    ["-1", "-1"],
    [".5", "500m"],
    ["1.", "1"],
    ["1n", "1n"],
    ["0.1n", "1n"],
  ])("%s is written as %s", (text, expected) => {
    expect(canonicalQuantity(text)).toBe(expected);
  });

  it.each(["", "12XB", "1 Gi", "Gi", "1.2.3", "--1", "1Kib", "m", "1mi", "0x10"])("%j is none", (text) => {
    expect(canonicalQuantity(text)).toBeUndefined();
  });

  it.each([
    ["1Gi", "1000M", 1],
    ["100m", "0.1", 0],
    ["1", "1500m", -1],
    ["1Ki", "1k", 1],
  ] as const)("%s against %s", (a, b, sign) => {
    expect(Math.sign(compareQuantities(a, b))).toBe(sign);
  });

  it("gives numbers", () => {
    expect(quantityValue("250m")).toBe(0.25);
    expect(quantityValue("64Mi")).toBe(67108864);
    expect(quantityValue(undefined)).toBe(0);
  });
});
