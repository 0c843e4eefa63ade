import { describe, expect, it } from "vitest";
import { Random } from "../../testbed/random.js";

const draws = (random: Random, n: number) => Array.from({ length: n }, () => random.uint32());

describe("Random", () => {
  it("gives the same stream for the same seed, and another for another", () => {
    expect(draws(new Random("seed"), 5)).toEqual(draws(new Random("seed"), 5));
    expect(draws(new Random("seed"), 5)).not.toEqual(draws(new Random("tree"), 5));
    expect(draws(new Random(7), 5)).toEqual(draws(new Random("7"), 5));
  });

  it("forks streams that do not depend on what the parent has drawn", () => {
    const fresh = new Random("s").fork("pods");
    const used = new Random("s");
    draws(used, 100);
    expect(draws(used.fork("pods"), 5)).toEqual(draws(fresh, 5));
    expect(draws(new Random("s").fork("nodes"), 5)).not.toEqual(draws(new Random("s").fork("pods"), 5));
  });

  it.each([
    ["uniform", (r: Random) => r.next(), 0.5, 0.01],
    ["normal", (r: Random) => r.normal(), 0, 0.02],
    ["poisson of a small mean", (r: Random) => r.poisson(3), 3, 0.05],
    ["poisson of a large mean", (r: Random) => r.poisson(200), 200, 0.4],
    ["binomial, few", (r: Random) => r.binomial(20, 0.3), 6, 0.05],
    ["binomial, many", (r: Random) => r.binomial(1000, 0.3), 300, 0.4],
  ])("%s has its mean", (_name, draw, mean, tolerance) => {
    const random = new Random("mean");
    let sum = 0;
    for (let i = 0; i < 50_000; i++) sum += draw(random);
    expect(Math.abs(sum / 50_000 - mean)).toBeLessThan(tolerance);
  });

  it("keeps to the edges", () => {
    const random = new Random("edge");
    expect(random.binomial(10, 0)).toBe(0);
    expect(random.binomial(10, 1)).toBe(10);
    expect(random.binomial(0, 0.5)).toBe(0);
    expect(random.poisson(0)).toBe(0);
    expect(() => random.pick([])).toThrow(RangeError);
  });

  it("writes names and ids as Kubernetes does", () => {
    const random = new Random("ids");
    expect(random.suffix(500)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{500}$/);
    for (let i = 0; i < 100; i++) {
      expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(random.hex(17)).toHaveLength(17);
  });
});
