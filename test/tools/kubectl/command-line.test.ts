import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../../tools/kubectl/index.js";

/** Line, and the words of each part of the pipeline. */
const READ: [string, string[][]][] = [
  ["kubectl get pods", [["kubectl", "get", "pods"]]],
  ["  kubectl   get\tpods  ", [["kubectl", "get", "pods"]]],
  ["$ kubectl get pods", [["kubectl", "get", "pods"]]],
  ["kubectl get pods;", [["kubectl", "get", "pods"]]],
  ["kubectl get pods 2>&1", [["kubectl", "get", "pods"]]],
  ["kubectl get pods # all of them", [["kubectl", "get", "pods"]]],
  ["kubectl get pods \\\n  -n shop", [["kubectl", "get", "pods", "-n", "shop"]]],
  ["kubectl get pods -l 'app in (a, b)'", [["kubectl", "get", "pods", "-l", "app in (a, b)"]]],
  [
    "kubectl get pods -o jsonpath={.items[*].metadata.name}",
    [["kubectl", "get", "pods", "-o", "jsonpath={.items[*].metadata.name}"]],
  ],
  [
    `kubectl get pods -o jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}'`,
    [["kubectl", "get", "pods", "-o", `jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}`]],
  ],
  [`kubectl patch d x -p '{"a":"it'\\''s"}'`, [["kubectl", "patch", "d", "x", "-p", `{"a":"it's"}`]]],
  [`kubectl patch d x -p "{\\"a\\":1}"`, [["kubectl", "patch", "d", "x", "-p", `{"a":1}`]]],
  [
    "kubectl get pods | grep -v 'a|b' | wc -l",
    [
      ["kubectl", "get", "pods"],
      ["grep", "-v", "a|b"],
      ["wc", "-l"],
    ],
  ],
  [
    "kubectl get pods|head -3",
    [
      ["kubectl", "get", "pods"],
      ["head", "-3"],
    ],
  ],
  ["kubectl annotate d x note=''", [["kubectl", "annotate", "d", "x", "note="]]],
  [
    "kubectl annotate d x note='a;b && c > d $(e) `f`'",
    [["kubectl", "annotate", "d", "x", "note=a;b && c > d $(e) `f`"]],
  ],
  ["kubectl get pods -l a=b\\;c", [["kubectl", "get", "pods", "-l", "a=b;c"]]],
  ['kubectl get x -o "jsonpath={$.a}"', [["kubectl", "get", "x", "-o", "jsonpath={$.a}"]]],
];

describe("parseCommandLine", () => {
  it.each(READ)("reads %j", (line, pipeline) => {
    expect(parseCommandLine(line)).toMatchObject({ ok: true, pipeline });
  });

  it("notes that errors go through the filters", () => {
    expect(parseCommandLine("kubectl get x 2>&1 | grep y")).toMatchObject({ mergeStderr: true });
    expect(parseCommandLine("kubectl get x | grep y")).toMatchObject({ mergeStderr: false });
  });
});
