import { describe, expect, it } from "vitest";
import { checkScript, commandLine } from "../../../tools/nl2script/check.js";
import { readScript } from "../../../tools/nl2script/generate.js";
import { parseScript } from "../../../tools/nl2script/parse.js";
import type { Statement } from "../../../tools/nl2script/syntax.js";

/** What a script is read as, on a line for each statement; `<x>` is a variable, `"<x>"` one that is never split. */
function read(text: string): string[] {
  const word = (parts: any[]): string =>
    parts
      .map((part) => {
        if (part.type === "text") return part.text;
        const inner = part.type === "variable" ? part.name : pipeline(part.pipeline);
        return part.quoted ? `"<${inner}>"` : `<${inner}>`;
      })
      .join("");
  const pipeline = (one: any): string =>
    one.commands.map((words: any[]) => words.map(word).join("·")).join(" | ") + (one.mergeStderr ? " (2>&1)" : "");
  const show = (statement: Statement): string[] => {
    if (statement.type === "run") return [pipeline(statement.pipeline)];
    if (statement.type === "echo") return [`echo ${statement.words.map(word).join("·")}`];
    if (statement.type === "set") return [`${statement.name} = ${word(statement.value)}`];
    const items = statement.items.map(word).join("·");
    return [`for ${statement.name}: ${items}`, ...statement.body.flatMap(show).map((line) => `  ${line}`)];
  };
  return parseScript(text).flatMap(show);
}

describe("parseScript", () => {
  it.each<[string, string[]]>([
    ["kubectl get pods", ["kubectl·get·pods"]],
    ["kubectl get pods; kubectl get svc;\n\nkubectl get ns", ["kubectl·get·pods", "kubectl·get·svc", "kubectl·get·ns"]],
    ["#!/bin/bash\n# all of it\nkubectl get pods # here", ["kubectl·get·pods"]],
    ["kubectl get pods \\\n  -n shop", ["kubectl·get·pods·-n·shop"]],
    ["kubectl get pods |\n  grep -v Running | wc -l", ["kubectl·get·pods | grep·-v·Running | wc·-l"]],
    ["kubectl get pods 2>&1 | grep x", ["kubectl·get·pods | grep·x (2>&1)"]],
    ["kubectl get pods |& grep x", ["kubectl·get·pods | grep·x (2>&1)"]],
    ["kubectl get x -o jsonpath='{$.a}' | awk '{print $1}'", ["kubectl·get·x·-o·jsonpath={$.a} | awk·{print $1}"]],
    ['kubectl get x -o jsonpath="{.items[?(@.a==\\"b\\")]}"', ['kubectl·get·x·-o·jsonpath={.items[?(@.a=="b")]}']],
    ["ns=shop\nkubectl get pods -n $ns", ["ns = shop", "kubectl·get·pods·-n·<ns>"]],
    ['p=a; kubectl get pod "\u0024{p}-1" $p', ["p = a", 'kubectl·get·pod·"<p>"-1·<p>']],
    ["n=$(kubectl get pods -o name | head -1)", ['n = "<kubectl·get·pods·-o·name | head·-1>"']],
    ['n="$(kubectl get pods -o jsonpath="{.a}")"', ['n = "<kubectl·get·pods·-o·jsonpath={.a}>"']],
    ["for x in a 'b c'; do kubectl get pod $x; done", ["for x: a·b c", "  kubectl·get·pod·<x>"]],
    [
      "for p in $(kubectl get pods -o name)\ndo\n  echo == $p\n  kubectl logs $p\ndone",
      ["for p: <kubectl·get·pods·-o·name>", "  echo ==·<p>", "  kubectl·logs·<p>"],
    ],
    [
      "for a in 1 2; do for b in x y; do kubectl get $b $a; done; done; kubectl get ns",
      ["for a: 1·2", "  for b: x·y", "    kubectl·get·<b>·<a>", "kubectl·get·ns"],
    ],
    ["echo 'a $x `b`'", ["echo a $x `b`"]],
    ["kubectl get pods -l 'a in (b,c)'", ["kubectl·get·pods·-l·a in (b,c)"]],
    ["kubectl get pods --sort-by=.a$", ["kubectl·get·pods·--sort-by=.a$"]],
    ["echo done", ["echo done"]],
    ["kubectl get for", ["kubectl·get·for"]],
    ["x=", ["x = "]],
  ])("%j", (text, lines) => expect(read(text)).toEqual(lines));

  it.each<[string, RegExp]>([
    ["", /script is empty/],
    ["  \n# nothing", /script is empty/],
    ["rm -rf /", /only kubectl can be run here, not rm/],
    ["kubectl get pods && rm -rf /", /`&&` is not available: put each command on a line of its own/],
    ["kubectl get pods || true", /`\|\|` is not available/],
    ["kubectl get pods &", /background jobs/],
    ["kubectl get pods > /etc/passwd", /cannot be written to files/],
    ["kubectl get pods 2>/dev/null", /leave the redirection of errors \(2>\) out/],
    ["kubectl apply -f - < x", /files cannot be read/],
    ["kubectl apply -f - <<EOF\na\nEOF", /here-documents are not available/],
    ["(kubectl get pods)", /sub-shells/],
    ["{ kubectl get pods; }", /blocks in braces/],
    ["if kubectl get pods; then kubectl get svc; fi", /`if` is not available/],
    ["while true; do kubectl get pods; done", /`while` is not available: to go through a list/],
    ["kubectl get pods | while read p; do kubectl logs $p; done", /`while` is not available/],
    ["kubectl get pods -o name | xargs kubectl delete", /xargs is not available: write for x in/],
    ["[ -n x ]", /tests are not available/],
    ["[[ a == b ]]", /tests are not available/],
    ["f() { kubectl get pods; }", /sub-shells/],
    ["function f { kubectl get pods; }", /functions are not available/],
    ["set -euo pipefail\nkubectl get pods", /shell options are not available/],
    ["sleep 10", /use the wait tool/],
    ["eval kubectl get pods", /not eval/],
    ["exec kubectl get pods", /not exec/],
    ["env kubectl get pods", /not env/],
    ["sudo kubectl get pods", /not sudo/],
    ["/usr/bin/kubectl get pods", /not \/usr\/bin\/kubectl/],
    ["k=kubectl; $k get pods", /begins with the word kubectl itself/],
    ["k=kube; \u0024{k}ctl get pods", /begins with the word kubectl itself/],
    ["kubectl get pods `whoami`", /backticks are not available/],
    ["kubectl get pods $(whoami)", /only kubectl can be run here, not whoami/],
    ["kubectl get pods $(kubectl get pods -o name)", /\$\( \) cannot stand in a command: assign it first/],
    ["echo $(kubectl get pods)", /\$\( \) cannot stand in echo/],
    ["x=$(kubectl get $(kubectl get x))", /\$\( \) inside \$\( \)/],
    ["x=$(kubectl get pods; kubectl get svc)", /one kubectl command/],
    ["x=$(kubectl get pods", /is not closed/],
    ["x=$((1+1))", /arithmetic/],
    ["for i in {1..5}; do echo $1; done", /\$1 is not available/],
    ["x=\u0024{y:-kubectl}", /\$\{y:-kubectl\} is not available/],
    ["kubectl get pods $?", /\$\? is not available/],
    ["echo 'open", /single quote/],
    ['echo "open', /double quote/],
    ["kubectl get pods |", /nothing on one side/],
    ["| grep x", /nothing on one side/],
    ["for x in a; kubectl get $x; done", /stand `;` and `do`/],
    ["for x in a; do kubectl get pods", /a `for` is not ended/],
    ["for x; do kubectl get pods; done", /write the list/],
    ["for 1x in a; do kubectl get pods; done", /the name of a variable/],
    ["done", /a `done` stands alone/],
    [
      "for a in 1; do for b in 1; do for c in 1; do for d in 1; do echo x; done; done; done; done",
      /nested deeper than 3/,
    ],
    ["NS=shop kubectl get pods", /behind NS=... the line ends/],
    ["kubectl get pods\u200b", /invisible character U\+200B/],
    ["kubectl get \u201cpods\u201d", /typographic quote/],
    ["\u043aubectl get pods", /only kubectl can be run here/],
    [`kubectl get ${"x".repeat(20_000)}`, /longer than 16 KiB/],
  ])("refuses %j", (text, why) => expect(() => parseScript(text)).toThrow(why));
});

describe("checkScript", () => {
  const reading = { mode: "read-only", namespaces: ["shop"] } as const;
  const writing = { mode: "read-write", namespaces: ["shop"] } as const;
  it.each<[string, "r" | "w", RegExp | undefined]>([
    ["kubectl get pods -n $ns", "r", /\$ns has no value/],
    ["for x in a; do echo $x; done; echo $x", "r", undefined],
    ["echo $x; x=1", "r", /\$x has no value/],
    ["kubectl delete pod a -n shop", "r", /only reading is allowed/],
    ["for x in a b; do kubectl delete pod $x -n shop; done", "r", /only reading is allowed/],
    ["for x in a b; do kubectl delete pod $x -n shop; done", "w", undefined],
    ["for ns in shop; do kubectl delete pod a -n $ns; done", "w", undefined],
    ["kubectl delete pod a -n other", "w", /writes are allowed only in shop/],
    ["for x in a; do kubectl exec $x -- sh; done", "w", /cannot be run inside containers/],
    ["x=$(kubectl delete pod a -n shop)", "r", /only reading is allowed/],
    ["for x in $(kubectl delete pod a -n shop); do echo; done", "r", /only reading is allowed/],
    ["for t in a; do kubectl get pods --token=$t; done", "r", /--token/],
    ["for f in a; do kubectl get -f $f; done", "r", /local files and URLs cannot be read/],
    ["kubectl get pods | sh", "r", /can be piped only into/],
    ["kubectl get pods | tee x", "r", /can be piped only into/],
    ["kubectl get pods --nonsense", "r", /unknown flag/],
    ["v=delete; kubectl $v pod a -n shop", "r", undefined],
    ["kubectl get deploy -n shop | awk '{print $1}'", "r", undefined],
  ])("%s (%s)", (text, mode, why) => {
    const findings = checkScript(parseScript(text), mode === "r" ? reading : writing).join("\n");
    if (why === undefined) expect(findings).toBe("");
    else expect(findings).toMatch(why);
  });
});

it.each([
  [[["kubectl", "get", "it's", "$(x)", "a;b", ""]], "kubectl get 'it'\\''s' '$(x)' 'a;b' ''"],
  [
    [
      ["kubectl", "get"],
      ["grep", "a|b"],
    ],
    "kubectl get | grep 'a|b'",
  ],
])("%j is quoted so that it reads as just these words", (commands, line) => {
  expect(commandLine(commands, false)).toBe(line);
});

describe("readScript", () => {
  it.each([
    ["```bash\nkubectl get pods\n```", "kubectl get pods"],
    ['{"script": "kubectl get pods\\nkubectl get svc"}', "kubectl get pods\nkubectl get svc"],
    ["for x in a; do\n  kubectl get $x\ndone", "for x in a; do\n  kubectl get $x\ndone"],
    ["Here it is:\n```\nkubectl get pods\n```\nIt lists pods.", "kubectl get pods"],
  ])("%j", (answer, script) => expect(readScript(answer)).toBe(script));

  it("refuses prose", () => expect(() => readScript("I cannot do that.")).toThrow("no script found"));
});
