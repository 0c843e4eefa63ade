/** Printers on their own, with answers that the real kubectl gave. */
import { describe, expect, it } from "vitest";
import { printGoTemplate } from "../../../tools/kubectl/printers/go-template.js";
import { printJson } from "../../../tools/kubectl/printers/json.js";
import { JsonPath, relaxed } from "../../../tools/kubectl/printers/jsonpath.js";
import { formatQuantity, parseQuantity } from "../../../tools/kubectl/printers/quantity.js";
import { sortBy } from "../../../tools/kubectl/printers/sort.js";
import { alignTabs, DESCRIBE_TABS, TABLE_TABS } from "../../../tools/kubectl/printers/tabwriter.js";
import { humanDuration } from "../../../tools/kubectl/printers/time.js";
import { printYaml } from "../../../tools/kubectl/printers/yaml.js";

describe("YAML scalars", () => {
  it.each<[unknown, string]>([
    ["plain", "a: plain\n"],
    ["", 'a: ""\n'],
    ["true", 'a: "true"\n'],
    ["yes", 'a: "yes"\n'],
    ["null", 'a: "null"\n'],
    ["~", 'a: "~"\n'],
    ["12", 'a: "12"\n'],
    ["0x1F", 'a: "0x1F"\n'],
    ["1.5", 'a: "1.5"\n'],
    ["1e3", 'a: "1e3"\n'],
    ["1.2.3", "a: 1.2.3\n"],
    ["2026-12-01T00:00:00Z", 'a: "2026-12-01T00:00:00Z"\n'],
    ["10m", "a: 10m\n"],
    ["12:30", 'a: "12:30"\n'],
    ["a: b", "a: 'a: b'\n"],
    ["a #b", "a: 'a #b'\n"],
    ["#b", "a: '#b'\n"],
    ["- x", "a: '- x'\n"],
    ["-x", "a: -x\n"],
    ["*x", "a: '*x'\n"],
    ["it's", "a: it's\n"],
    ["'q'", "a: '''q'''\n"],
    ['"q"', "a: '\"q\"'\n"],
    [" lead", "a: ' lead'\n"],
    ["trail ", "a: 'trail '\n"],
    ["a\tb", 'a: "a\\tb"\n'],
    ["a\nb", "a: |-\n  a\n  b\n"],
    ["a\nb\n", "a: |\n  a\n  b\n"],
    ["a\n\n", "a: |+\n  a\n\n"],
    [" a\nb", "a: |2-\n   a\n  b\n"],
    ["a \nb", 'a: "a \\nb"\n'],
    ["{a}", "a: '{a}'\n"],
    ["a,b", "a: a,b\n"],
    ["x]", "a: x]\n"],
    ["@at", "a: '@at'\n"],
    ["%p", "a: '%p'\n"],
    ["ü", "a: ü\n"],
    ["🚀", 'a: "\\U0001F680"\n'],
    [12, "a: 12\n"],
    [true, "a: true\n"],
    [null, "a: null\n"],
    [[], "a: []\n"],
    [{}, "a: {}\n"],
    [["x", { y: 1, z: [1] }], 'a:\n- x\n- "y": 1\n  z:\n  - 1\n'],
    [[["x"]], "a:\n- - x\n"],
  ])("%j", (value, text) => {
    expect(printYaml({ a: value })).toBe(text);
  });
});

const POD = {
  kind: "Pod",
  metadata: { name: "x", labels: { "app.kubernetes.io/name": "shop", a: "1" } },
  spec: {
    containers: [
      { name: "c1", image: "i1", ports: [{ port: 80 }, { port: 443 }], env: [{ name: "A", value: "1" }] },
      { name: "c2", image: "i2" },
    ],
    big: 12345678,
    fraction: 1.5,
    flag: false,
    nothing: null,
  },
};

describe("JSONPath", () => {
  it.each<[string, string]>([
    ["{.metadata.name}", "x"],
    ["{.kind}-{.metadata.name}", "Pod-x"],
    ["name: {.metadata.name}!", "name: x!"],
    ["{.spec.containers[*].name}", "c1 c2"],
    ["{.spec.containers[0].name}", "c1"],
    ["{.spec.containers[-1].name}", "c2"],
    ["{.spec.containers[0:1].name}", "c1"],
    ["{.spec.containers[::2].name}", "c1"],
    ['{.spec.containers[?(@.name=="c2")].image}', "i2"],
    ["{.spec.containers[?(@.name!='c2')].image}", "i1"],
    ["{.spec.containers[?(@.ports)].name}", "c1"],
    ["{.spec.containers[*].ports[?(@.port>100)].port}", "443"],
    ["{.spec.containers[?(@.ports[0].port==80)].name}", "c1"],
    ["{range .spec.containers[*]}{.name}={.image};{end}", "c1=i1;c2=i2;"],
    ['{range .spec.containers[*]}{.name}{"\\t"}{range .ports[*]}{.port},{end}{"\\n"}{end}', "c1\t80,443,\nc2\t\n"],
    ["{.metadata.labels.app\\.kubernetes\\.io/name}", "shop"],
    ["{.metadata.labels['app\\.kubernetes\\.io/name']}", "shop"],
    ["{.metadata['name']}", "x"],
    ["{.metadata['name', 'labels']}", 'x {"a":"1","app.kubernetes.io/name":"shop"}'],
    ["{.metadata.labels}", '{"a":"1","app.kubernetes.io/name":"shop"}'],
    ["{.metadata.labels.*}", "1 shop"],
    ["{..port}", "80 443"],
    ["{.spec.big} {.spec.fraction} {.spec.flag}", "12345678 1.5 false"],
    ["{.nope.at.all}", ""],
    ["{$.metadata.name}", "x"],
    ["{@.metadata.name}", "x"],
    ["plain", "plain"],
    ["", ""],
  ])("%s", (template, text) => {
    expect(new JsonPath(template).print(POD)).toBe(text);
  });

  it.each(["{.a", "{.a[}", "{.a[x]}", "{.a[?(@.b]}", '{"open}', "{%}"])("complains about %s", (template) => {
    expect(() => new JsonPath(template)).toThrow();
  });

  it("takes paths without braces where kubectl does", () => {
    for (const path of ["metadata.name", ".metadata.name", "{.metadata.name}", "{metadata.name}", "$.metadata.name"])
      expect(new JsonPath(relaxed(path)).values(POD)).toEqual(["x"]);
  });
});

describe("Go templates", () => {
  it.each<[string, string]>([
    ["{{.metadata.name}}", "x"],
    ["{{range .spec.containers}}{{.name}} {{end}}", "c1 c2 "],
    ["{{range $i, $c := .spec.containers}}{{$i}}={{$c.name}} {{end}}", "0=c1 1=c2 "],
    ["{{range .nope}}x{{else}}none{{end}}", "none"],
    ['{{if eq .kind "Pod"}}pod{{else if eq .kind "Job"}}job{{else}}other{{end}}', "pod"],
    ["{{if and .kind (not .spec.flag)}}yes{{end}}", "yes"],
    ["{{with .metadata}}{{.name}}{{end}}", "x"],
    ['{{index .metadata.labels "a"}}', "1"],
    ["{{(index .spec.containers 1).image}}", "i2"],
    ["{{len .spec.containers}}", "2"],
    ['{{printf "%-4s|%4d|%q" .kind .spec.big .metadata.name}}', 'Pod |12345678|"x"'],
    ['{{.metadata.name | printf "%s!"}}', "x!"],
    ["{{$x := .kind}}{{$x}}", "Pod"],
    ["a {{- /* note */ -}} b", "ab"],
    ["{{.nope}}", "<no value>"],
    ["{{.metadata.labels}}", "map[a:1 app.kubernetes.io/name:shop]"],
    ['{{"\\n"}}', "\n"],
  ])("%s", (template, text) => {
    expect(printGoTemplate(template, POD)).toBe(text);
  });

  it.each(["{{.a", "{{range .a}}", "{{end}}", "{{nope .a}}", '{{template "x"}}'])("complains about %s", (template) => {
    expect(() => printGoTemplate(template, POD)).toThrow(/error parsing template|not available/);
  });
});

it("JSON escapes what Go escapes, and keeps sorted keys that look like numbers", () => {
  expect(printJson({ b: "<a&b>", 10: 1, 9: 2 })).toBe(
    '{\n    "10": 1,\n    "9": 2,\n    "b": "\\u003ca\\u0026b\\u003e"\n}\n',
  );
});

it("aligns a column by its run of lines", () => {
  expect(alignTabs("a\tb\n long title\tx\nplain\nc\td\n", DESCRIBE_TABS)).toBe(
    "a            b\n long title  x\nplain\nc  d\n",
  );
  expect(alignTabs("N\tAGE\nx\t1s\n", TABLE_TABS)).toBe("N     AGE\nx     1s\n");
});

it.each<[number, string]>([
  [-5000, "<invalid>"],
  [-900, "0s"],
  [119_000, "119s"],
  [120_000, "2m"],
  [190_000, "3m10s"],
  [600_000, "10m"],
  [3 * 3600_000, "3h"],
  [3.5 * 3600_000, "3h30m"],
  [30 * 3600_000, "30h"],
  [50 * 3600_000, "2d2h"],
  [10 * 86_400_000, "10d"],
  [800 * 86_400_000, "2y70d"],
  [3000 * 86_400_000, "8y"],
])("an age of %d ms is %s", (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});

it("orders quantities by their size, text with numbers naturally, what is missing first", () => {
  const order = (values: unknown[]) =>
    sortBy(
      values.map((v) => ({ v })),
      ".v",
      (item) => item,
    ).map(({ v }) => v);
  expect(order(["1Gi", "200Mi", "3Ki"])).toEqual(["3Ki", "200Mi", "1Gi"]);
  expect(order(["web-10", "web-9", "web-1"])).toEqual(["web-1", "web-9", "web-10"]);
  expect(order([3, undefined, 1])).toEqual([undefined, 1, 3]);
  expect(parseQuantity("1.5Gi")).toBe(1.5 * 2 ** 30);
  expect(formatQuantity(384 * 2 ** 20, "binary")).toBe("384Mi");
});
