/** From stages of the syntax tree to functions over lines. */
import type { Stage } from "../ast.js";
import { labelFilterStage, lineFilterStage } from "./filters.js";
import { decolorizeStage, dropStage, keepStage, labelFormatStage, lineFormatStage } from "./format.js";
import type { LineStage } from "./line.js";
import { jsonStage, logfmtStage, patternStage, regexpStage, unpackStage } from "./parsers.js";

/** One function that runs all stages in order and says whether the line is kept. */
export function compilePipeline(stages: readonly Stage[]): LineStage {
  const compiled = stages.map(compileStage);
  return (line) => {
    for (const stage of compiled) if (!stage(line)) return false;
    return true;
  };
}

function compileStage(stage: Stage): LineStage {
  switch (stage.type) {
    case "lineFilter":
      return lineFilterStage(stage);
    case "json":
      return jsonStage(stage);
    case "logfmt":
      return logfmtStage(stage);
    case "regexp":
      return regexpStage(stage.pattern);
    case "pattern":
      return patternStage(stage.pattern);
    case "unpack":
      return unpackStage();
    case "labelFilter":
      return labelFilterStage(stage.filter);
    case "lineFormat":
      return lineFormatStage(stage.template);
    case "labelFormat":
      return labelFormatStage(stage);
    case "drop":
      return dropStage(stage.items);
    case "keep":
      return keepStage(stage.items);
    case "decolorize":
      return decolorizeStage;
  }
}
