/** Functions that yield a scalar. */
import type { Call } from "../ast.js";
import type { Compiler, ScalarNode } from "../context.js";

export const SCALAR_FUNCTIONS: Readonly<Record<string, (compiler: Compiler, call: Call) => ScalarNode>> = {
  pi: () => () => Math.PI,
  time: () => (t) => t / 1000,
  start:
    ({ context }) =>
    () =>
      context.start / 1000,
  end:
    ({ context }) =>
    () =>
      context.end / 1000,
  step:
    ({ context }) =>
    () =>
      context.step / 1000,
  range:
    ({ context }) =>
    () =>
      (context.end - context.start) / 1000,
  min_of: (compiler, call) => pair(compiler, call, Math.min),
  max_of: (compiler, call) => pair(compiler, call, Math.max),
  scalar(compiler, call) {
    const input = compiler.vector(call.args[0]!);
    return (t) => {
      const vector = input(t);
      return vector.length === 1 ? vector.values[0]! : Number.NaN;
    };
  },
};

function pair(compiler: Compiler, call: Call, pick: (a: number, b: number) => number): ScalarNode {
  const left = compiler.scalar(call.args[0]!);
  const right = compiler.scalar(call.args[1]!);
  return (t) => pick(left(t), right(t));
}
