/** Label and field selectors, parsed from their text or from a LabelSelector. */
import { badRequest, type StatusError } from "./errors.js";

export type LabelMatcher = (labels: Record<string, string>) => boolean;

interface Requirement {
  key: string;
  operator: "in" | "notin" | "exists" | "absent" | "gt" | "lt";
  values: Set<string>;
}

const everything: LabelMatcher = () => true;

function matches({ key, operator, values }: Requirement, labels: Record<string, string>): boolean {
  const value = labels[key];
  switch (operator) {
    case "in":
      return value !== undefined && values.has(value);
    case "notin":
      return value === undefined || !values.has(value);
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
    default: {
      const [limit] = values;
      if (value === undefined || !/^-?\d+$/.test(value)) return false;
      return operator === "gt" ? Number(value) > Number(limit) : Number(value) < Number(limit);
    }
  }
}

function all(requirements: Requirement[]): LabelMatcher {
  if (requirements.length === 0) return everything;
  return (labels) => {
    for (const requirement of requirements) if (!matches(requirement, labels)) return false;
    return true;
  };
}

/** Of a LabelSelector (`matchLabels`, `matchExpressions`); a missing one matches nothing, an empty one everything. */
export function selectorOf(selector: any): LabelMatcher {
  if (selector === undefined || selector === null) return () => false;
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: "in",
    values: new Set([value as string]),
  }));
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const names: Record<string, Requirement["operator"]> = {
      In: "in",
      NotIn: "notin",
      Exists: "exists",
      DoesNotExist: "absent",
    };
    requirements.push({ key, operator: names[operator] ?? "exists", values: new Set(values ?? []) });
  }
  return all(requirements);
}

/** Of plain labels, as Services select. An empty map matches nothing. */
export function labelsMatch(
  selector: Record<string, string> | undefined,
  labels: Record<string, string> | undefined,
): boolean {
  let any = false;
  for (const key in selector) {
    any = true;
    if (labels?.[key] !== selector[key]) return false;
  }
  return any;
}

const ABSENT = /^!\s*([^\s,=!<>()]+)\s*(?:,|$)/;
const AMONG = /^([^\s,=!<>()]+)\s+(in|notin)\s*\(([^)]*)\)\s*(?:,|$)/;
const COMPARED = /^([^\s,=!<>()]+)\s*(==|=|!=|>|<)\s*([^\s,=!<>()]*)\s*(?:,|$)/;
const PRESENT = /^([^\s,=!<>()]+)\s*(?:,|$)/;
const OPERATORS: Record<string, Requirement["operator"]> = {
  "=": "in",
  "==": "in",
  "!=": "notin",
  ">": "gt",
  "<": "lt",
};

/** The requirement at the start of `text`, and how much of the text it takes. */
function parseRequirement(text: string): [Requirement, number] | undefined {
  const absent = ABSENT.exec(text);
  if (absent) return [{ key: absent[1]!, operator: "absent", values: new Set() }, absent[0].length];
  const among = AMONG.exec(text);
  if (among) {
    const values = new Set(among[3]!.split(",").map((v) => v.trim()));
    return [{ key: among[1]!, operator: among[2] as "in" | "notin", values }, among[0].length];
  }
  const compared = COMPARED.exec(text);
  if (compared) {
    return [
      { key: compared[1]!, operator: OPERATORS[compared[2]!]!, values: new Set([compared[3]!]) },
      compared[0].length,
    ];
  }
  const present = PRESENT.exec(text);
  return present ? [{ key: present[1]!, operator: "exists", values: new Set() }, present[0].length] : undefined;
}

/** Of the text of `-l`: `a=b,c!=d,e in (f,g),!h`. @throws StatusError (BadRequest) */
export function parseSelector(text: string): LabelMatcher {
  const requirements: Requirement[] = [];
  let rest = text.trim();
  const fail = (why: string) => badRequest(`unable to parse requirement: ${why}`);
  while (rest !== "") {
    const [requirement, length] = parseRequirement(rest) ?? [];
    if (requirement === undefined || length === undefined) {
      const token = /^[^\s,=!<>()]*\s*(\S?)/.exec(rest);
      throw unexpected(rest, token?.[1] ?? rest, requirements.length > 0);
    }
    requirements.push(requirement);
    if (rest.length === length && rest.endsWith(",")) throw badRequest("found '', expected: identifier after ','");
    rest = rest.slice(length).trim();
  }
  for (const { key, operator, values } of requirements) {
    if (!/^([a-z0-9.-]+\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(key)) {
      throw fail(
        `<nil>: Invalid value: "${key}": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      );
    }
    if (operator === "gt" || operator === "lt") {
      const [limit] = values;
      if (!/^-?\d+$/.test(limit ?? ""))
        throw fail(
          `values[0][${key}]: Invalid value: "${limit}": for 'Gt', 'Lt' operators, the value must be an integer`,
        );
    }
  }
  return all(requirements);
}

/** What the parser of a real server finds wrong at the start of `rest`. */
function unexpected(rest: string, token: string, following: boolean): StatusError {
  if (rest.startsWith(",") && following) return badRequest("found ',', expected: identifier after ','");
  if (/^[^\s,=!<>()]+\s+(in|notin)\s*\([^)]*$/.test(rest)) {
    return badRequest("unable to parse requirement: found '', expected: ',' or ')'");
  }
  const after = /^[^\s,=!<>()]+\s*(?:==|=|!=|>|<)\s*[^\s,=!<>()]*\s*(\S+?)(?:[^=!<>()].*)?$/.exec(rest);
  if (after) return badRequest(`found '${after[1]}', expected: ',' or 'end of string'`);
  return badRequest(`unable to parse requirement: found '${token}', expected: ',', or 'end of string'`);
}

export interface FieldTerm {
  field: string;
  value: string;
  negative: boolean;
}

/** Of the text of `--field-selector`: `status.phase=Running,spec.nodeName!=x`. @throws StatusError (BadRequest) */
export function parseFieldSelector(text: string): FieldTerm[] {
  const terms: FieldTerm[] = [];
  for (const part of splitTerms(text)) {
    if (part === "") continue;
    const m = /^(.*?)(!=|==|=)(.*)$/s.exec(part);
    if (!m) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    terms.push({ field: m[1]!, value: m[3]!.replace(/\\([,=\\])/g, "$1"), negative: m[2] === "!=" });
  }
  return terms;
}

function splitTerms(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\" && i + 1 < text.length) part += text[i]! + text[++i];
    else if (text[i] === ",") {
      parts.push(part);
      part = "";
    } else part += text[i];
  }
  return [...parts, part];
}
