import { describe, expect, it } from "vitest";
import { isTimeZone, scheduleProblem } from "../../../../testbed/kube/kinds/schedule.js";

describe("cron schedules", () => {
  it.each(["*/5 * * * *", "0 2 * * 1-5", "1,2 0-6/2 ? JAN-mar sun", "@daily", "@every 1h30m"])("%s is one", (text) => {
    expect(scheduleProblem(text)).toBeUndefined();
  });
  it.each([
    ["nope", "expected exactly 5 fields, found 1: [nope]"],
    ["61 * * * *", "end of range (61) above maximum (59): 61"],
    ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ["@often", "unrecognized descriptor: @often"],
  ])("%s is none", (text, why) => {
    expect(scheduleProblem(text)).toBe(why);
  });
  it.each([
    ["Europe/Berlin", true],
    ["Etc/UTC", true],
    ["Mars/X", false],
  ])("knows the time zone %s: %s", (name, known) => {
    expect(isTimeZone(name)).toBe(known);
  });
});
