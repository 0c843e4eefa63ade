/** Cron schedules in the five-field form, as CronJobs write them. */

const NAMES: Record<string, Record<string, number>> = {
  month: Object.fromEntries(
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"].map((n, i) => [n, i + 1]),
  ),
  weekday: Object.fromEntries(["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map((n, i) => [n, i])),
};
const MACROS: Record<string, string> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const MINUTE_MS = 60_000;
/** Schedules that never come true (30 February) are given up after this long. */
const HORIZON_DAYS = 5 * 366;

export interface CronSchedule {
  minutes: Set<number>;
  hours: Set<number>;
  days: Set<number>;
  months: Set<number>;
  weekdays: Set<number>;
  /** With both day fields restricted, either one is enough. */
  eitherDay: boolean;
}

/** The schedule that `text` spells, or undefined when it is none. Times are UTC. */
export function parseCron(text: string): CronSchedule | undefined {
  const fields = (MACROS[text.trim()] ?? text.trim()).split(/\s+/);
  if (fields.length !== 5) return undefined;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const minutes = parseField(minute, 0, 59);
  const hours = parseField(hour, 0, 23);
  const days = parseField(day, 1, 31);
  const months = parseField(month, 1, 12, NAMES.month);
  const weekdays = parseField(weekday, 0, 7, NAMES.weekday);
  if (!minutes || !hours || !days || !months || !weekdays) return undefined;
  if (weekdays.has(7)) weekdays.add(0);
  return { minutes, hours, days, months, weekdays, eitherDay: !day.startsWith("*") && !weekday.startsWith("*") };
}

function parseField(text: string, low: number, high: number, names: Record<string, number> = {}) {
  const values = new Set<number>();
  for (const part of text.toLowerCase().split(",")) {
    const match = /^(\*|\?|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d+))?$/.exec(part);
    if (!match) return undefined;
    const [, first = "", last, stride] = match;
    const any = first === "*" || first === "?";
    const from = any ? low : (names[first] ?? Number(first));
    const to = any ? high : last !== undefined ? (names[last] ?? Number(last)) : stride ? high : from;
    const step = Number(stride ?? 1);
    if (!(from >= low && to <= high && from <= to && step > 0)) return undefined;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

/** The first instant after `after` (milliseconds) that the schedule names; undefined when there is none. */
export function nextTime(schedule: CronSchedule, after: number): number | undefined {
  let time = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  const end = after + HORIZON_DAYS * 86_400_000;
  while (time < end) {
    const date = new Date(time);
    if (!schedule.months.has(date.getUTCMonth() + 1) || !dayMatches(schedule, date)) {
      time = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1);
    } else if (!schedule.hours.has(date.getUTCHours())) {
      time = (Math.floor(time / 3_600_000) + 1) * 3_600_000;
    } else if (!schedule.minutes.has(date.getUTCMinutes())) time += MINUTE_MS;
    else return time;
  }
  return undefined;
}

function dayMatches(schedule: CronSchedule, date: Date): boolean {
  const day = schedule.days.has(date.getUTCDate());
  const weekday = schedule.weekdays.has(date.getUTCDay());
  return schedule.eitherDay ? day || weekday : day && weekday;
}
