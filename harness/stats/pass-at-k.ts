/** Chance that at least one of k trials, or that all of k trials, succeed (Chen et al. 2021). */

export interface ScenarioTally {
  trials: number;
  passed: number;
}

/** 1 - C(n-c, k) / C(n, k), as a product; undefined when there are fewer than k trials. */
export function passAtK({ trials, passed }: ScenarioTally, k: number): number | undefined {
  if (k < 1 || k > trials) return undefined;
  if (trials - passed < k) return 1;
  let allFail = 1;
  for (let i = 0; i < k; i++) allFail *= (trials - passed - i) / (trials - i);
  return 1 - allFail;
}

/** C(c, k) / C(n, k), as a product; undefined when there are fewer than k trials. */
export function passHatK({ trials, passed }: ScenarioTally, k: number): number | undefined {
  if (k < 1 || k > trials) return undefined;
  let allPass = 1;
  for (let i = 0; i < k; i++) allPass *= Math.max(0, passed - i) / (trials - i);
  return allPass;
}

/** Mean over the scenarios that have at least k trials; undefined when none has. */
export function meanOverScenarios(
  tallies: readonly ScenarioTally[],
  k: number,
  estimate: (tally: ScenarioTally, k: number) => number | undefined,
): number | undefined {
  const values = tallies.map((tally) => estimate(tally, k)).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
