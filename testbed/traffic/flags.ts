/** Feature flags as programs see them: asked of flagd over the network, at their defaults where flagd does not answer. */
import type { Behaviour } from "./behaviour.js";
import type { Network } from "./network.js";
import type { Process } from "./processes.js";
import { processAddress } from "./processes.js";

export type FlagValue = boolean | number | string;

/**
 * Reads flagd's file: the value of each enabled flag (its default variant; targeting with a plain `if`, `==` and `var`
 * that gives the same variant for every request). @throws SyntaxError when it is no JSON; TypeError when it is no flag file.
 */
export function parseFlags(text: string): Map<string, FlagValue> {
  const file = JSON.parse(text) as { flags?: Record<string, any> };
  if (typeof file?.flags !== "object" || file.flags === null) throw new TypeError("flags: not an object");
  const values = new Map<string, FlagValue>();
  for (const [name, flag] of Object.entries(file.flags)) {
    if (flag?.state !== "ENABLED") continue;
    const variants = flag.variants ?? {};
    const value = variants[evaluate(flag.targeting) ?? flag.defaultVariant] ?? variants[flag.defaultVariant];
    if (value !== undefined) values.set(name, value as FlagValue);
  }
  return values;
}

/** The variant that targeting gives to everybody; undefined where it depends on the request. */
function evaluate(targeting: any): string | undefined {
  if (typeof targeting === "string") return targeting;
  const branches = targeting?.if;
  if (!Array.isArray(branches) || branches.length < 3) return undefined;
  return branches[1] === branches[2] && typeof branches[1] === "string" ? branches[1] : undefined;
}

export interface Flags {
  /** Value of a flag for a process now: false where it is unknown, disabled, or flagd cannot be reached. */
  value(process: Process, name: string): FlagValue;
}

export function createFlags(behaviour: Behaviour, network: Network): Flags {
  const source = behaviour.flags;
  if (source === undefined) return { value: () => false };
  const parsed = new WeakMap<Process, Map<string, FlagValue>>();
  /** What each process sees, valid while the network stands as it is. */
  let seen = new Map<Process, Map<string, FlagValue> | undefined>();
  let stamp = -1;

  function valuesFor(process: Process): Map<string, FlagValue> | undefined {
    const address = processAddress(process, source!.address);
    if ("problem" in address) return undefined;
    const { outcomes } = network.route(process, address);
    const server = outcomes.find((outcome) => outcome.process?.flagFile !== undefined)?.process;
    if (server === undefined) return undefined;
    let values = parsed.get(server);
    if (values === undefined) {
      values = parseFlags(server.flagFile!);
      parsed.set(server, values);
    }
    return values;
  }

  return {
    value(process, name) {
      if (stamp !== network.stamp) {
        stamp = network.stamp;
        seen = new Map();
      }
      let values = seen.get(process);
      if (values === undefined && !seen.has(process)) {
        values = valuesFor(process);
        seen.set(process, values);
      }
      return values?.get(name) ?? false;
    },
  };
}
