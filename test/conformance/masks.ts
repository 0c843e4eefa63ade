/** What two clusters cannot agree on, as both comparisons with kubectl hide it: ids, times, hashes, addresses, ports. */

const SAFE = "bcdfghjklmnpqrstvwxz2456789";
/** An age, as a pattern's source. */
export const AGE = "(?:(?:\\d+[dhms]){1,2}|<unknown>|<invalid>)";
/** What an event's age has behind it when it came several times. */
export const OVER = `(?: \\(x\\d+ over ${AGE}\\))?`;

const RULES: [RegExp, string][] = [
  [/v0\.0\.0-master\+\$Format:%H\$/g, "v1.34.2"],
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>"],
  [
    /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}(?: UTC)?/g,
    "<time>",
  ],
  [/(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [new RegExp(`-[${SAFE}]{8,10}-[${SAFE}]{5}\\b`, "g"), "-<hash>-<id>"],
  [new RegExp(`(pod-template-hash\\W+)[${SAFE}]{8,10}`, "g"), "$1<hash>"],
  [new RegExp(`-[${SAFE}]{8,10}\\b`, "g"), "-<hash>"],
  [new RegExp(`-[${SAFE}]{5}\\b`, "g"), "-<id>"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b(?:\/\d+)?/g, "<ip>"],
  [/(Invalid value: \\*"(?:\{|map\[)).*/g, "$1<object>"],
  [/(resourceVersion\W+|Resource Version: +|current: )\d+/g, "$1<rv>"],
  [/(kubernetes\.io\/revision\W+)\d+/g, "$1<revision>"],
  [/(nodePort\W+|:)3\d{4}\b/g, "$1<port>"],
  [/\bnode-[0-9]\b/g, "node-<n>"],
  [new RegExp(`${AGE}${OVER} ago`, "g"), "<age>"],
];

export function maskText(text: string): string {
  return RULES.reduce((out, [pattern, to]) => out.replace(pattern, to), text);
}
