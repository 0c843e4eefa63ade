import { describe, expect, it } from "vitest";
import { passAtK, passHatK, wilson } from "../../../harness/stats/index.js";

describe("Wilson's interval", () => {
  // Reference values: R's prop.test(x, n, correct = FALSE).
  it.each([
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [5, 10, 0.2366, 0.7634],
    [58, 420, 0.1084, 0.1743],
    [1, 1, 0.2065, 1],
  ])("%i of %i", (passed, total, low, high) => {
    const rate = wilson(passed, total);
    expect(rate.low).toBeCloseTo(low, 3);
    expect(rate.high).toBeCloseTo(high, 3);
  });
  it("knows nothing without trials", () => {
    expect(wilson(0, 0)).toMatchObject({ rate: 0, low: 0, high: 1 });
  });
});

describe("pass@k and pass^k", () => {
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);
  it("agree with the binomial coefficients", () => {
    for (let trials = 1; trials <= 8; trials++) {
      for (let passed = 0; passed <= trials; passed++) {
        for (let k = 1; k <= trials; k++) {
          const all = choose(trials, k);
          const fail = trials - passed >= k ? choose(trials - passed, k) : 0;
          expect(passAtK({ trials, passed }, k)).toBeCloseTo(1 - fail / all, 10);
          expect(passHatK({ trials, passed }, k)).toBeCloseTo(passed >= k ? choose(passed, k) / all : 0, 10);
        }
      }
    }
  });
  it("is unknown with fewer trials than k, and does not overflow with many", () => {
    expect(passAtK({ trials: 3, passed: 1 }, 4)).toBeUndefined();
    expect(passAtK({ trials: 10_000, passed: 1 }, 5_000)).toBeCloseTo(0.5, 6);
  });
});
