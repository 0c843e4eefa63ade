import { describe, expect, it } from "vitest";
import { compileTemplate, TemplateError } from "../../../../testbed/telemetry/rules/index.js";

const data = {
  labels: { pod: "web-1", cluster: "", instance: "host.example.org:9100" },
  value: 1234.5,
  query: (text: string) =>
    text === "none"
      ? []
      : [
          { labels: { job: "b" }, value: 2 },
          { labels: { job: "a" }, value: 1 },
        ],
};

describe("templates", () => {
  it.each([
    ["plain", "plain"],
    ["{{ $labels.pod }} is {{ $value }}", "web-1 is 1234.5"],
    ["{{$labels.absent}}|", "|"],
    ["{{ .Labels.pod }} {{ .Value }}", "web-1 1234.5"],
    ["{{ $value | humanize }}", "1.234k"],
    ["{{ 0.00123 | humanize }}", "1.23m"],
    ["{{ 2048 | humanize1024 }}", "2ki"],
    ["{{ 0.1234 | humanizePercentage }}", "12.34%"],
    ['{{ "43200" | humanizeDuration }}', "12h 0m 0s"],
    ["{{ 90061 | humanizeDuration }}", "1d 1h 1m 1s"],
    ["{{ 0.0235 | humanizeDuration }}", "23.5ms"],
    ["{{ 1435065584.128 | humanizeTimestamp }}", "2015-06-23 13:19:44.128 +0000 UTC"],
    ['{{ printf "%.2f %d%% %s %5.1f|%-4s|" $value 3 "x" 2.25 "a" }}', "1234.50 3% x   2.2|a   |"],
    ["{{ with $labels.cluster -}} on {{ . }} {{- end }}.", "."],
    ["{{ with $labels.pod -}} on {{ . }} {{- end }}.", "on web-1."],
    ["{{ if gt $value 1000.0 }}big{{ else if eq $value 1.0 }}one{{ else }}small{{ end }}", "big"],
    ["{{ if and $labels.pod (not $labels.cluster) }}yes{{ end }}", "yes"],
    ['{{ range $i, $s := query "up" }}{{ $i }}={{ $s.Value }};{{ end }}', "0=2;1=1;"],
    ['{{ range query "up" | sortByLabel "job" }}{{ .Labels.job }}{{ end }}', "ab"],
    ['{{ range query "none" }}x{{ else }}nothing{{ end }}', "nothing"],
    ['{{ query "up" | first | value }} {{ query "up" | first | label "job" }}', "2 b"],
    ["{{ $x := $labels.pod }}{{ $x | toUpper }}", "WEB-1"],
    ["{{ $labels.instance | stripPort }} {{ stripDomain $labels.instance }}", "host.example.org host:9100"],
    ['{{ reReplaceAll "(\\\\w+)-(\\\\d)" "$2:$1" $labels.pod }}', "1:web"],
    ['{{ if match "^web" $labels.pod }}m{{ end }}', "m"],
    ["a{{/* note */}}b", "ab"],
    ["{{ `raw }}` }}", "raw }}"],
    ["{{ 1e-7 }} {{ 123456789 }}", "1e-07 123456789"],
    ['{{ index $labels "pod" }} {{ len "abc" }}', "web-1 3"],
  ])("%s", (template, text) => {
    expect(compileTemplate(template)(data)).toBe(text);
  });

  // What Prometheus' own expander gives.
  it.each([
    ["{{ $value }}", 1234567, "1.234567e+06"],
    ["{{ $value }}", 123456, "123456"],
    ["{{ $value }}", 0.00001, "1e-05"],
    ["{{ $value }}", Number.POSITIVE_INFINITY, "+Inf"],
    ["{{ $value | humanize }}", 999.96, "1000"],
    ["{{ $value | humanize }}", -0.002, "-2m"],
    ["{{ $value | humanize1024 }}", 1023, "1023"],
    ["{{ $value | humanizeDuration }}", 90061.25, "1d 1h 1m 1s"],
    ["{{ $value | humanizeDuration }}", -61.7, "-1m 1s"],
    ["{{ $value | humanizePercentage }}", 0.9999999, "100%"],
    ['{{ printf "%.2f" $value }}', 1e21, "1000000000000000000000.00"],
    ['{{ printf "%.1f" $value }}', 90061.25, "90061.2"],
    ['{{ printf "%.0f" $value }}', 0.5, "0"],
    ['{{ printf "%.0f" $value }}', 1.5, "2"],
    ['{{ printf "%.2f" $value }}', 1.005, "1.00"],
    ['{{ printf "%e" $value }}', 1048576.5, "1.048576e+06"],
    ['{{ printf "%g" $value }}', 123456789, "1.23456789e+08"],
    ['{{ printf "%+.1f" $value }}', Number.NaN, "+NaN"],
    ['{{ printf "%06.1f" $value }}', -1, "-001.0"],
    ['{{ printf "%06.1f" $value }}', Number.NaN, "   NaN"],
    ["{{ if gt $value 5.0 }}a{{ end }}", Number.NaN, "a"],
    ["{{ 3.0 }} {{ 1e6 }} {{ 1000000 }}", 0, "3 1e+06 1000000"],
    ['{{ print "a" 1 2 "b" "c" }}', 0, "a1 2bc"],
    ["{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}", 0, "2"],
    ["{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}", 0, "1"],
    ['{{ stripDomain "10.0.0.1:80" }} {{ stripDomain "a.b:80" }}', 0, "10.0.0.1:80 a:80"],
    ['{{ slice "abcdef" 1 3 }} {{ urlquery "a b" }} {{ html "<a>" }}', 0, "bc a+b &lt;a&gt;"],
  ])("%s of %d", (template, value, text) => {
    expect(compileTemplate(template)({ ...data, value })).toBe(text);
  });

  it.each([
    ["{{ nope 1 }}", 'function "nope" is not supported; there are: and, '],
    ["{{ if $value }}", "{{if}} without {{end}}"],
    ["{{ end }}", "unexpected {{end}}"],
    ["{{ $value", "unclosed action"],
    ['{{ define "x" }}{{ end }}', "{{define}} is not supported"],
    ["{{ ( $value }}", "unclosed parenthesis"],
    ["{{ $value ) }}", 'unexpected ")"'],
    ["{{ }}", "missing value"],
  ])("%s is refused", (template, message) => {
    expect(() => compileTemplate(template)).toThrow(TemplateError);
    expect(() => compileTemplate(template)).toThrow(message);
  });

  it.each([
    ["{{ $nope }}", "undefined variable"],
    ['{{ query "none" | first }}', "no elements"],
    ['{{ index (query "none") 0 }}', "out of range"],
    ["{{ 1e12 | humanizeTimestamp }}", "is no time"],
  ])("%s fails when it runs", (template, message) => {
    expect(() => compileTemplate(template)(data)).toThrow(message);
  });
});
