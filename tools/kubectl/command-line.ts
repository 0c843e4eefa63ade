/** From a line of text to a pipeline of argument lists. Everything that only a shell could do is refused, with advice. */
import { filterNames } from "./filters/index.js";
import { splitWords } from "./words.js";

export interface Pipeline {
  ok: true;
  /** First kubectl's own arguments (starting with `kubectl`), then one argument list a filter. */
  pipeline: string[][];
  /** The line said `2>&1`: errors go through the filters too. */
  mergeStderr: boolean;
}

export interface Unparsed {
  ok: false;
  error: string;
}

const MANIFEST_ADVICE =
  "pass a manifest in the tool's own manifest argument and write `kubectl apply -f -` (or create, replace, delete) as the command";

function operatorAdvice(operator: string, words: string[]): string {
  switch (operator) {
    case "$":
    case "`":
      return "`$...` and backticks are not expanded here: run the inner command first, then write its result into the next command (in awk or jq, put the program in single quotes)";
    case ";":
    case ";;":
    case "&&":
    case "\n":
      return "one command at a time: call the tool once for each command";
    case "||":
      return words.at(-1) === "true"
        ? "leave `|| true` out: a failing command does no harm here, its error is shown"
        : "`||` is not available: run the first command, look at its result, then decide";
    case "&":
      return "background jobs (`&`) are not available: leave the `&` out";
    case "(":
    case ")":
      return "sub-shells are not available: write the command alone, and put quotes around arguments with parentheses";
    case "<<":
    case "<<-":
    case "<<<":
      return `here-documents are not available: ${MANIFEST_ADVICE}`;
    case "<":
      return `files cannot be read: ${MANIFEST_ADVICE}`;
    default:
      return operator.includes("2>")
        ? "leave the redirection of errors out: output and errors are shown apart"
        : "redirection to files is not available: the output is returned to you as it is";
  }
}

/**
 * Parses a kubectl command with optional in-process filters behind `|`.
 *
 * @returns the pipeline, or an error that says what to write instead.
 */
export function parseCommandLine(text: string): Pipeline | Unparsed {
  const words = splitWords(text.replace(/^\s*\$\s+/, ""));
  if (!words.ok) return { ok: false, error: words.error };
  const pipeline: string[][] = [[]];
  let mergeStderr = false;
  const { tokens } = words;
  for (const [index, token] of tokens.entries()) {
    const current = pipeline.at(-1) as string[];
    if (token.type === "word") current.push(token.text);
    else if (token.text === "2>&1") mergeStderr = true;
    else if (token.text === "|" || token.text === "|&") {
      if (token.text === "|&") mergeStderr = true;
      pipeline.push([]);
    } else if (token.text === ";" && index === tokens.length - 1) {
      // A closing semicolon separates nothing.
    } else {
      const rest = tokens.slice(index + 1).flatMap((t) => (t.type === "word" ? [t.text] : []));
      return { ok: false, error: `refused: ${operatorAdvice(token.text, rest)}` };
    }
  }
  const [first = [], ...filters] = pipeline;
  if (first.length === 0) return { ok: false, error: "the command is empty; write one that starts with kubectl" };
  if (first[0] !== "kubectl") {
    if (pipeline.some((part) => part[0] === "kubectl"))
      return {
        ok: false,
        error: `refused: input cannot be piped from ${first[0]} into kubectl: ${MANIFEST_ADVICE}`,
      };
    return {
      ok: false,
      error: `refused: only kubectl can be run here, not ${first[0]}; start the command with kubectl`,
    };
  }
  const known = filterNames();
  for (const filter of filters) {
    const name = filter[0];
    if (name === undefined) return { ok: false, error: "there is nothing behind a `|`; name a filter or leave it out" };
    if (name === "kubectl" || name === "xargs")
      return {
        ok: false,
        error: `refused: output cannot be piped into ${name}: run the second command as a call of its own`,
      };
    if (name === "base64")
      return { ok: false, error: "refused: values of Secrets are masked, so there is nothing to decode" };
    if (!known.includes(name))
      return {
        ok: false,
        error: `refused: output can be piped only into ${known.join(", ")}, not into ${name}; kubectl's own -o jsonpath, -o custom-columns, -l and --field-selector do most of it`,
      };
  }
  return { ok: true, pipeline, mergeStderr };
}
