/** Errors of reading scenarios: each names the file, the place in it, and what to do. */

export interface ScenarioProblem {
  /** Path inside the document: `disruptions[0].injections[0].id`. */
  field?: string;
  /** 1-based. */
  line?: number;
  problem: string;
  fix?: string;
}

/** A scenario or ground truth file that cannot be used. */
export class ScenarioFileError extends Error {
  override name = "ScenarioFileError";
  constructor(
    readonly file: string,
    readonly problems: ScenarioProblem[],
  ) {
    super(problems.map((problem) => describe(file, problem)).join("\n"));
  }
}

/** No scenario of that name. */
export class UnknownScenarioError extends Error {
  override name = "UnknownScenarioError";
  constructor(
    readonly reference: string,
    readonly suggestions: string[],
    fix: string,
  ) {
    const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(" or ")}?` : "";
    super(`unknown scenario "${reference}".${hint} ${fix}`);
  }
}

function describe(file: string, { field, line, problem, fix }: ScenarioProblem): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return `${place}: ${field ? `${field}: ` : ""}${problem}${fix ? ` (${fix})` : ""}`;
}
