/**
 * A playbook is written as a generator: it yields tool calls and is resumed with what they returned. The model keeps no
 * state: for each turn it replays the conversation through a fresh generator, so that the same conversation always gives
 * the same next call.
 */

export interface Call {
  tool: string;
  args: Record<string, unknown>;
}

/** Yields the calls of one step; receives their observations in the same order; returns when there is nothing to add. */
export type Script<Result = void> = Generator<Call[], Result, string[]>;

/** One step of a conversation that has happened. */
export interface Turn {
  calls: Call[];
  observations: string[];
}

/**
 * The calls that come after `turns`; undefined when the script is over. A turn whose calls are not the script's (another
 * model began the conversation) still feeds its observations: the script works with what it is told.
 */
export function nextCalls(script: Script<unknown>, turns: readonly Turn[]): Call[] | undefined {
  let state = script.next();
  for (const turn of turns) {
    if (state.done) return undefined;
    state = script.next(turn.observations);
  }
  return state.done ? undefined : state.value;
}

/** What stands in the place of an observation that there was no time left to make. */
export const NOT_MADE = "not run: no step was left";

/** As `nextCalls`, when only `tool` may be called any more: the script goes on without observations until it calls it. */
export function lastCalls(script: Script<unknown>, turns: readonly Turn[], tool: string): Call[] | undefined {
  let calls = nextCalls(script, turns);
  while (calls !== undefined && !calls.some((call) => call.tool === tool)) {
    const state = script.next(calls.map(() => NOT_MADE));
    calls = state.done ? undefined : state.value;
  }
  return calls;
}

/** Runs one call. */
export function* ask(tool: string, args: Record<string, unknown>): Script<string> {
  const [observation] = yield [{ tool, args }];
  return observation ?? "";
}
