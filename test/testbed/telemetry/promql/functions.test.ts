import { expect, it } from "vitest";
import { MATH_FUNCTIONS } from "../../../../testbed/telemetry/promql/functions/math.js";
import { RANGE_FUNCTIONS } from "../../../../testbed/telemetry/promql/functions/range.js";
import { SCALAR_FUNCTIONS } from "../../../../testbed/telemetry/promql/functions/scalar.js";
import { VECTOR_FUNCTIONS } from "../../../../testbed/telemetry/promql/functions/vector.js";
import { FUNCTIONS } from "../../../../testbed/telemetry/promql/signatures.js";

it("every signature has exactly one body, and every body a signature of its kind", () => {
  const bodies = [
    ...Object.keys(MATH_FUNCTIONS),
    ...Object.keys(RANGE_FUNCTIONS),
    ...Object.keys(SCALAR_FUNCTIONS),
    ...Object.keys(VECTOR_FUNCTIONS),
  ];
  expect([...bodies].sort()).toEqual([...FUNCTIONS.keys()].sort());
  for (const name of Object.keys(MATH_FUNCTIONS)) expect(FUNCTIONS.get(name)!.args).toEqual(["vector"]);
  for (const name of Object.keys(RANGE_FUNCTIONS)) expect(FUNCTIONS.get(name)!.args).toContain("matrix");
  for (const name of Object.keys(SCALAR_FUNCTIONS)) expect(FUNCTIONS.get(name)!.returns).toBe("scalar");
});
