import { describe, expect, it } from "vitest";
import type { Program } from "../../../testbed/traffic/behaviour.js";
import { commandMeaning } from "../../../testbed/traffic/commands.js";

const program: Program = {
  language: "go",
  image: "cart",
  entrypoint: ["./cart", "cart"],
  idle: { cpuCores: 0, memoryBytes: 0 },
};

describe("commandMeaning", () => {
  it.each<[string, string[] | undefined, string[], boolean, object]>([
    ["the image's own", undefined, ["--x"], false, { kind: "program", args: ["--x"] }],
    ["an empty one", [], [], false, { kind: "program" }],
    ["the entry point", ["./cart", "-v"], ["--x"], false, { kind: "program", args: ["-v", "--x"] }],
    ["one that the manifests declare", ["/opt/run"], [], false, { kind: "program" }],
    ["an unknown path", ["/usr/bin/nothing"], [], true, { kind: "missing", executable: "/usr/bin/nothing" }],
    ["an unknown name", ["nothing"], [], true, { kind: "missing", executable: "nothing" }],
    ["a shell where there is none", ["sh", "-c", "true"], [], false, { kind: "missing", executable: "sh" }],
    ["a tool where there is no shell", ["sleep", "5"], [], false, { kind: "missing", executable: "sleep" }],
    ["sleep", ["sleep", "5"], [], true, { kind: "idle", afterMs: 5000, code: 0 }],
    ["sleep for ever", ["sleep", "infinity"], [], true, { kind: "idle" }],
    ["false", ["/bin/false"], [], true, { kind: "idle", code: 1 }],
    ["a script that exits", ["sh", "-c", "echo bad; exit 3"], [], true, { kind: "idle", code: 3, output: "bad" }],
    [
      "a script that starts the program",
      ["/bin/sh", "-c", "echo hi; exec ./cart -v"],
      [],
      true,
      { kind: "program", args: ["-v"] },
    ],
    ["a script of nonsense", ["sh", "-c", "frobnicate"], [], true, { kind: "idle", code: 127 }],
    [
      "waiting with nc",
      ["sh", "-c", "until nc -z -v -w30 kafka 9092; do echo waiting for kafka; sleep 2; done;"],
      [],
      true,
      { kind: "wait", host: "kafka", port: 9092, waiting: "waiting for kafka", everyMs: 2000 },
    ],
    [
      "waiting with while",
      ["sh", "-c", "while ! nc -z db 5432; do sleep 1; done"],
      [],
      true,
      { kind: "wait", host: "db", port: 5432 },
    ],
    [
      "copying",
      ["sh", "-c", "cp /a/f.json /b/f.json && cat /b/f.json"],
      [],
      true,
      { kind: "copy", from: "/a/f.json", to: "/b/f.json", print: true },
    ],
  ])("%s", (_, command, args, shell, wanted) => {
    expect(commandMeaning(command, args, program, [["/opt/run"]], shell)).toMatchObject(wanted);
  });
});
