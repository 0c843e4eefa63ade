/** Arguments that several tools take, in the same words. */
import { z } from "zod";

/** `minutes`: the window of time that a tool reads, up to a day. */
export const minutesArgument = (description: string) =>
  z
    .number()
    .positive()
    .max(24 * 60)
    .optional()
    .describe(description);

/** `since`: the time that parts before from after, for `turningPoint`. @param use what the tool does from then on */
export const sinceArgument = (use: string) =>
  z.string().optional().describe(`${use}: a time such as "14:05:00", or "10m" ago (shortly before the first alert)`);
