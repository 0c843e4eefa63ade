/** Stages that rewrite: line_format, label_format, drop, keep, decolorize. */
import type { Stage } from "../ast.js";
import { compileMatcher } from "./filters.js";
import { ERROR_DETAILS_LABEL, ERROR_LABEL, type LineStage } from "./line.js";
import { parseTemplate } from "./template.js";

export function lineFormatStage(template: string): LineStage {
  const render = parseTemplate(template);
  return (line) => {
    try {
      line.text = render(line);
    } catch (error) {
      line.fail("TemplateFormatErr", error instanceof Error ? error.message : String(error));
    }
    return true;
  };
}

export function labelFormatStage(stage: Extract<Stage, { type: "labelFormat" }>): LineStage {
  const assignments = stage.assignments.map((assignment) =>
    "from" in assignment ? assignment : { label: assignment.label, render: parseTemplate(assignment.template) },
  );
  return (line) => {
    for (const assignment of assignments) {
      if ("from" in assignment) {
        const value = line.get(assignment.from);
        if (value === undefined) continue;
        line.set(assignment.label, value);
        line.delete(assignment.from);
        continue;
      }
      try {
        line.set(assignment.label, assignment.render(line));
      } catch (error) {
        line.fail("TemplateFormatErr", error instanceof Error ? error.message : String(error));
      }
    }
    return true;
  };
}

export function dropStage(items: Extract<Stage, { type: "drop" | "keep" }>["items"]): LineStage {
  const tests = items.map(({ name, matcher }) => ({ name, test: matcher && compileMatcher(matcher) }));
  return (line) => {
    for (const { name, test } of tests) {
      const value = line.get(name);
      if (value !== undefined && (test === undefined || test(value))) line.delete(name);
    }
    return true;
  };
}

export function keepStage(items: Extract<Stage, { type: "drop" | "keep" }>["items"]): LineStage {
  const tests = items.map(({ name, matcher }) => ({ name, test: matcher && compileMatcher(matcher) }));
  return (line) => {
    for (const [name, value] of Object.entries(line.labels())) {
      if (name === ERROR_LABEL || name === ERROR_DETAILS_LABEL) continue;
      const kept = tests.some((item) => item.name === name && (item.test === undefined || item.test(value)));
      if (!kept) line.delete(name);
    }
    return true;
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ANSI = /[\u001b\u009b][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[0-9A-ORZcf-nqry=><~]/g;

export const decolorizeStage: LineStage = (line) => {
  line.text = line.text.replace(ANSI, "");
  return true;
};
