import { describe, expect, it } from "vitest";
import { Drain, wordsOf } from "../../../tools/log-patterns/drain.js";

/** The patterns of lines, with their counts. */
function patterns(lines: readonly string[]): [string, number][] {
  const drain = new Drain(0);
  lines.forEach((text, i) => {
    drain.add({ time: i, text, source: "a" });
  });
  return drain.clusters.map((one): [string, number] => [one.words.join(" "), one.count]);
}

describe("Drain", () => {
  it.each<[string, string[], [string, number][]]>([
    [
      "numbers, times and ids",
      [
        "2026-01-01T10:00:00Z order 12 placed by 9f1c2b3a-0000-1111-2222-333344445555 in 12ms",
        "2026-01-01T10:00:01Z order 7 placed by 0f1c2b3a-0000-1111-2222-333344445555 in 1.5ms",
      ],
      [["<*> order <*> placed by <*> in <*>ms", 2]],
    ],
    [
      "words that differ",
      ["user alice logged in from berlin", "user bob logged in from paris", "user carol logged in from rome"],
      // The second word leads to the branch.
      [
        ["user alice logged in from berlin", 1],
        ["user bob logged in from paris", 1],
        ["user carol logged in from rome", 1],
      ],
    ],
    [
      "words that differ further on",
      ["login of alice from berlin failed", "login of bob from paris failed"],
      [["login of <*> from <*> failed", 2]],
    ],
    [
      "another length",
      ["a b c", "a b c d"],
      [
        ["a b c", 1],
        ["a b c d", 1],
      ],
    ],
    [
      "too little in common",
      ["get x from y now", "get x by z then"],
      [
        ["get x from y now", 1],
        ["get x by z then", 1],
      ],
    ],
    ["empty lines", ["", ""], [["", 2]]],
    [
      "JSON: level, message and error, whatever else differs",
      [
        '{"time":"2026-01-01T10:00:00Z","level":"ERROR","msg":"cannot connect","err":"refused","trace":"aa"}',
        '{"err":"refused","trace":"bb","extra":[1,2],"level":"ERROR","msg":"cannot connect"}',
      ],
      [["ERROR cannot connect refused", 2]],
    ],
    ["JSON without a message", ['{"a":1}', '{"a":2}'], [['{"a":<*>}', 2]]],
    ["JSON that is none", ["{oops}", "{oops}"], [["{oops}", 2]]],
    ["colours", ["\u001b[31mERROR\u001b[0m failed badly", "ERROR failed badly"], [["ERROR failed badly", 2]]],
    ["Chinese and emoji", ["订单 失败 🔥 12", "订单 失败 🔥 13"], [["订单 失败 🔥 <*>", 2]]],
  ])("%s", (_name, lines, found) => expect(patterns(lines)).toEqual(found));

  it.each([
    ["status=500 took=12ms", ["status=500", "took=<*>ms"]],
    ["HTTP/1.1 503", ["HTTP/1.1", "503"]],
    ["dial tcp 10.0.0.1:9092", ["dial", "tcp", "<*>"]],
    ["v1.2.3-rc4", ["v<*>"]],
    ["0x7ffe cafebabe1234", ["<*>", "<*>"]],
  ])("%s", (line, words) => expect(wordsOf(line)).toEqual(words));

  it("keeps the first words of a very long line", () => {
    expect(wordsOf("a ".repeat(10_000))).toHaveLength(61);
  });

  it("clusters many different lines in little time", () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, i) => `request ${String.fromCharCode(97 + (i % 26))}${i} of kind k${i % 50} done in ${i} ms`,
    );
    const start = performance.now();
    expect(patterns(lines).length).toBeLessThan(100);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
