/** Interval of a single rate. */

export interface Rate {
  passed: number;
  total: number;
  /** passed / total; 0 without trials. */
  rate: number;
  low: number;
  high: number;
}

/** 97.5 % quantile of the standard normal distribution. */
const Z = 1.959963984540054;

/**
 * Wilson score interval, 95 % (Wilson 1927): stays inside [0, 1] and is not empty at 0 or 1. Without trials it is
 * [0, 1]: nothing is known.
 */
export function wilson(passed: number, total: number): Rate {
  if (total === 0) return { passed, total, rate: 0, low: 0, high: 1 };
  const rate = passed / total;
  const z2 = Z * Z;
  const centre = (rate + z2 / (2 * total)) / (1 + z2 / total);
  const half = (Z / (1 + z2 / total)) * Math.sqrt((rate * (1 - rate)) / total + z2 / (4 * total * total));
  return { passed, total, rate, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}
