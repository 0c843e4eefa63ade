/** The time that parts "before" from "after" where a tool is not told one. */
import { type ToolContext, ToolFailure } from "./context.js";
import { firstAlert } from "./nl2alerts/index.js";
import { timestamp } from "./render/text.js";
import { parseTime } from "./time.js";

/** Rules wait before they fire; what they speak of began earlier. */
const LEAD_MS = 180_000;

/**
 * The given time; without one, three minutes before the first alert where that is inside the window, else its middle.
 * All times in milliseconds since the epoch.
 *
 * @throws ToolFailure when the given time is none, or outside of the window
 */
export async function turningPoint(
  given: string | undefined,
  from: number,
  to: number,
  context: ToolContext,
): Promise<number> {
  if (given !== undefined) {
    const time = parseTime(given, to);
    if (time > from && time < to) return time;
    throw new ToolFailure(
      `${given} (${timestamp(time)}) is outside of the window, ${timestamp(from)} to ${timestamp(to)}; give a time inside it, or more minutes`,
    );
  }
  const alert = await firstAlert(context);
  const early = (alert?.since ?? 0) - LEAD_MS;
  return early > from && early < to ? early : from + (to - from) / 2;
}
