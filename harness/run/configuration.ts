/** What a run is: everything that may change its results, as plain data. */
import { createHash } from "node:crypto";
import type { AgentOptions, Limits, ProtocolName } from "../../agents/agent.js";
import type { Scenario } from "../scenario/index.js";
import type { VerificationWindow } from "../score/index.js";

export interface RunConfiguration {
  /** Content hashes, so that a changed scenario is not mistaken for the one that was run. */
  scenarios: { id: string; hash: string }[];
  /** As the user named it. */
  model: string;
  protocol: ProtocolName;
  /** Trials of each scenario. */
  trials: number;
  /** Seed of the environments. All trials of a run see the same environment; what varies is the model. */
  seed: string;
  /** Environment seconds that pass at each step of an agent. */
  step_seconds: number;
  /** Environment seconds to wait for the triggering alerts. */
  alert_timeout_seconds: number;
  verification: VerificationWindow;
  /** Of each task. */
  limits: Limits;
  /** Most attempts at an incident; absent: 1. */
  attempts?: number;
  /** Of all tasks of a trial together. */
  total_limits?: Partial<Limits>;
  /** What the agent was given to look things up in; `hash` is of the contents. */
  runbooks?: { folder: string; files: number; hash: string; top: number };
  options: AgentOptions;
}

/** First 16 hexadecimal digits of the SHA-256 of the scenario's content. */
export function scenarioHash(scenario: Scenario): string {
  return createHash("sha256").update(JSON.stringify(scenario)).digest("hex").slice(0, 16);
}

/** Fields that `--resume` may change: more trials, more scenarios, the place of the same runbooks. */
const MAY_DIFFER = new Set(["trials", "scenarios", "runbooks.folder"]);

/** What keeps a run from being resumed, one line a field; empty when nothing does. */
export function differences(stored: RunConfiguration, wanted: RunConfiguration): string[] {
  const found: string[] = [];
  for (const { id, hash } of wanted.scenarios) {
    const before = stored.scenarios.find((scenario) => scenario.id === id);
    if (before && before.hash !== hash) found.push(`scenario ${id} has changed (${before.hash} -> ${hash})`);
  }
  for (const { path, a, b } of fieldDifferences(stored, wanted, MAY_DIFFER)) {
    found.push(`${path}: ${show(a)} -> ${show(b)}`);
  }
  return found;
}

export interface FieldDifference {
  /** Names joined by dots: `options.modalities.traces`. */
  path: string;
  a: unknown;
  b: unknown;
}

/**
 * Fields in which two plain objects differ, in order of the first one's fields.
 * @param skip paths that are not looked at, nor what is under them
 */
export function fieldDifferences(a: unknown, b: unknown, skip: ReadonlySet<string>): FieldDifference[] {
  const found: FieldDifference[] = [];
  const walk = (left: unknown, right: unknown, path: string): void => {
    if (skip.has(path)) return;
    if (isObject(left) && isObject(right)) {
      for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
        walk(left[name], right[name], path ? `${path}.${name}` : name);
      }
      return;
    }
    if (JSON.stringify(left) !== JSON.stringify(right)) found.push({ path, a: left, b: right });
  };
  walk(a, b, "");
  return found;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function show(value: unknown): string {
  return value === undefined ? "none" : JSON.stringify(value);
}
