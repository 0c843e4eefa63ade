/** The in-process filters beside what the real programs print. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runFilter } from "../../../tools/kubectl/filters/index.js";

const INPUT = `NAME      READY   STATUS             RESTARTS   AGE
ad-1      1/1     Running            0          5m
cart-2    0/1     CrashLoopBackOff   12         3m
cart-2    0/1     CrashLoopBackOff   12         3m
Email.3   1/1     running            2          10d

quote-4   1/1     Pending            100        1s
`;

/** Compared with the real programs byte by byte. */
const SAME: string[][] = [
  ["grep", "Running"],
  ["grep", "-i", "running"],
  ["grep", "-v", "Running"],
  ["grep", "-vi", "running"],
  ["grep", "-c", "cart"],
  ["grep", "-n", "cart"],
  ["grep", "-o", "c[a-z]*"],
  ["grep", "-on", "[0-9]/[0-9]"],
  ["grep", "-E", "ad|quote"],
  ["grep", "ad\\|quote"],
  ["grep", "ad|quote"],
  ["grep", "-F", "Email.3"],
  ["grep", "Email.3"],
  ["grep", "-w", "car"],
  ["grep", "-w", "cart"],
  ["grep", "-x", "nothing"],
  ["grep", "-A1", "ad-1"],
  ["grep", "-B", "1", "quote"],
  ["grep", "-C1", "Email"],
  ["grep", "-1", "Email"],
  ["grep", "-nA1", "NAME"],
  ["grep", "-e", "ad-1", "-e", "quote"],
  ["grep", "-m1", "cart"],
  ["grep", "-E", "^[A-Z]+ +READY"],
  ["grep", "-E", "(ad|cart)-[[:digit:]]+"],
  ["grep", "[[:space:]]12"],
  ["grep", "-E", "a{1,2}d"],
  ["grep", "nothing at all"],
  ["grep", "-q", "cart"],
  ["egrep", "ad|cart"],
  ["fgrep", "Email.3"],
  ["head"],
  ["head", "-2"],
  ["head", "-n", "3"],
  ["head", "-n3"],
  ["head", "-n", "-2"],
  ["head", "-c", "10"],
  ["tail", "-2"],
  ["tail", "-n", "3"],
  ["tail", "-n", "+2"],
  ["tail", "-c", "5"],
  ["sort"],
  ["sort", "-r"],
  ["sort", "-u"],
  ["sort", "-k", "4", "-n"],
  ["sort", "-k4,4nr"],
  ["sort", "-k2"],
  ["sort", "-t", "-", "-k2"],
  ["uniq"],
  ["uniq", "-c"],
  ["uniq", "-d"],
  ["uniq", "-u"],
  ["wc"],
  ["wc", "-l"],
  ["wc", "-w"],
  ["wc", "-lc"],
  ["cut", "-c1-5"],
  ["cut", "-d", "-", "-f1"],
  ["cut", "-d-", "-f2"],
  ["cut", "-d", " ", "-f", "1,3"],
  ["cut", "-d/", "-f2-"],
  ["cut", "-s", "-d/", "-f1"],
  ["awk", "{print $1}"],
  ["awk", "{print $1, $3}"],
  ["awk", '{print $1 ":" $3}'],
  ["awk", "{print $NF}"],
  ["awk", "NR>1 {print $1}"],
  ["awk", "NR==2"],
  ["awk", "NR>1{print $1}"],
  ["awk", '$3 == "Running" {print $1}'],
  ["awk", '$3 != "Running" {print $1, NR}'],
  ["awk", "$4 > 5 {print $1, $4}"],
  ["awk", "/cart/ {print $1}"],
  ["awk", "!/cart/ {print $1}"],
  ["awk", "$3 ~ /Crash/ {print $1}"],
  ["awk", "NR>1 && $4 >= 2 {print $1}"],
  ["awk", '$1=="ad-1" || $1=="quote-4"'],
  ["awk", "-F", "-", "{print $2}"],
  ["awk", "-F/", "{print $1}"],
  ["awk", "{print}"],
  ["awk", "{print $0; }"],
  ["tr", "a-z", "A-Z"],
  ["tr", "-d", " "],
  ["tr", "-s", " "],
  ["tr", "\\n", ","],
  ["tr", "[:lower:]", "[:upper:]"],
  ["cat"],
];

function real(argv: string[]): { stdout: string; code: number } {
  const [program = "", ...args] = argv;
  try {
    const stdout = execFileSync(program, args, {
      input: INPUT,
      encoding: "utf8",
      env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    return { stdout, code: 0 };
  } catch (error) {
    const { stdout, status } = error as { stdout?: string; status?: number | null };
    return { stdout: stdout ?? "", code: status ?? -1 };
  }
}

const unix = process.platform !== "win32";

describe.skipIf(!unix)("filters beside the system's programs", () => {
  it.each(SAME.map((argv) => [argv.join(" "), argv] as const))("%s", async (_, argv) => {
    const expected = real([...argv]);
    const { stdout, code } = await runFilter(argv, INPUT);
    expect({ stdout, code }).toEqual(expected);
  });
});

describe("jq", () => {
  const list = JSON.stringify({
    items: [
      { name: "a", n: 1 },
      { name: "b", n: 2 },
    ],
  });

  it.each<[string[], string]>([
    [
      ["."],
      '{\n  "items": [\n    {\n      "name": "a",\n      "n": 1\n    },\n    {\n      "name": "b",\n      "n": 2\n    }\n  ]\n}\n',
    ],
    [["-r", ".items[].name"], "a\nb\n"],
    [["-c", ".items[] | select(.n > 1)"], '{"name":"b","n":2}\n'],
    [["-r", '.items | map(.name) | join(",")'], "a,b\n"],
    [[".items | length"], "2\n"],
    [["-r", "--arg", "x", "b", ".items[] | select(.name == $x) | .n"], "2\n"],
    [["empty"], ""],
  ])("%j", async (args, stdout) => {
    expect(await runFilter(["jq", ...args], list)).toMatchObject({ stdout, code: 0 });
  });

  it("passes jq's own complaints on", async () => {
    expect(await runFilter(["jq", ".a |"], "{}")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("syntax error"),
    });
    expect(await runFilter(["jq", "."], "No resources found")).toMatchObject({ code: 5 });
  });

  it("sees neither the environment nor files", async () => {
    expect((await runFilter(["jq", "-n", "$ENV.PATH"], "")).stdout).not.toContain("bin:/");
    expect((await runFilter(["jq", "-n", 'import "/etc/passwd" as $x; $x'], "")).code).not.toBe(0);
  });

  it("is stopped when it does not end", async () => {
    const result = await runFilter(["jq", "-n", "[range(1e12)] | length"], "");
    expect(result.code).not.toBe(0);
  }, 20_000);
});

describe("patterns that would not end", () => {
  it.each(["(a+)+$", "(a|a)*b", "^(([a-z])+.)+[A-Z]([a-z])+$"])("grep -E %s gives up or ends soon", async (pattern) => {
    const began = performance.now();
    await runFilter(["grep", "-E", pattern], `${"a".repeat(60)}!\n`);
    expect(performance.now() - began).toBeLessThan(3000);
  });
});
