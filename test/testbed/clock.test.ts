import { describe, expect, it } from "vitest";
import { driveRealTime, VirtualClock } from "../../testbed/clock.js";

describe("VirtualClock", () => {
  it("runs events in order of time, and of scheduling at the same instant", () => {
    const clock = new VirtualClock(1000);
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name}@${clock.now()}`);
    clock.after(20, note("late"));
    clock.after(10, note("a"));
    clock.after(10, note("b"));
    clock.at(500, note("past"));
    clock.advance(15);
    expect(seen).toEqual(["past@1000", "a@1010", "b@1010"]);
    expect(clock.now()).toBe(1015);
    clock.advance(5);
    expect(seen.at(-1)).toBe("late@1020");
  });

  it("runs what an event schedules within the time that is being passed", () => {
    const clock = new VirtualClock(0);
    const seen: number[] = [];
    const again = () => {
      seen.push(clock.now());
      if (seen.length < 4) clock.after(0, again);
      else if (seen.length < 6) clock.after(3, again);
    };
    clock.after(2, again);
    clock.advance(10);
    expect(seen).toEqual([2, 2, 2, 2, 5, 8]);
  });

  it("settle() runs what is due now and nothing later", () => {
    const clock = new VirtualClock(0);
    const seen: string[] = [];
    clock.after(0, () => seen.push("now"));
    clock.after(1, () => seen.push("later"));
    clock.settle();
    expect(seen).toEqual(["now"]);
    expect(clock.next()).toBe(1);
  });

  it("cancels timers, also from within an event, also twice", () => {
    const clock = new VirtualClock(0);
    const seen: string[] = [];
    const victim = clock.after(5, () => seen.push("victim"));
    clock.after(4, () => victim.cancel());
    let count = 0;
    const ticker = clock.every(10, () => {
      if (++count === 3) ticker.cancel();
    });
    clock.advance(100);
    victim.cancel();
    ticker.cancel();
    expect(seen).toEqual([]);
    expect(count).toBe(3);
    expect(clock.next()).toBeUndefined();
  });

  it("keeps the order of a thousand events pushed in any order", () => {
    const clock = new VirtualClock(0);
    const seen: number[] = [];
    for (let i = 0; i < 1000; i++) {
      const at = (i * 7919) % 1009;
      clock.at(at, () => seen.push(at));
    }
    clock.advance(2000);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen).toHaveLength(1000);
  });

  it("does not nest: advancing from within an event leaves time to the outer call", () => {
    const clock = new VirtualClock(0);
    clock.after(1, () => clock.advance(1000));
    clock.advance(5);
    expect(clock.now()).toBe(5);
  });

  it("goes on after an event has thrown", () => {
    const clock = new VirtualClock(0);
    let ran = false;
    clock.after(1, () => {
      throw new Error("boom");
    });
    clock.after(2, () => {
      ran = true;
    });
    expect(() => clock.advance(5)).toThrow("boom");
    clock.advance(5);
    expect(ran).toBe(true);
  });

  it("goes on at once after time was let pass by hand", async () => {
    const clock = new VirtualClock(0);
    const stop = driveRealTime(clock, 1000);
    clock.advance(3600_000);
    await new Promise<void>((resolve) => {
      clock.after(1_000, resolve);
    });
    stop();
    expect(clock.now()).toBeGreaterThanOrEqual(3601_000);
  });

  it("follows the wall clock until it is told to stop", async () => {
    const clock = new VirtualClock(0);
    const reached = new Promise<void>((resolve) => {
      clock.after(5_000, resolve);
    });
    const stop = driveRealTime(clock, 100_000);
    await reached;
    stop();
    expect(clock.now()).toBeGreaterThanOrEqual(5_000);
  });
});
