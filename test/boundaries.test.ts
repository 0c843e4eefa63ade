import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../paths.js";

/** Which of the package's folders each may import from; all know `paths.ts`. */
const MAY: Record<string, string[]> = {
  prompts: [],
  models: [],
  tools: ["prompts"],
  agents: ["prompts", "models", "tools"],
  testbed: [],
  harness: ["prompts", "models", "tools", "agents", "testbed"],
};

const root = packageRoot();

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

/** `[importing file, imported file]`, relative to the package, for imports that leave the folder. */
function imports(folder: string): [string, string][] {
  return sources(folder).flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const found = [...text.matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+)"/g)].map((match) => match[1]!);
    return found
      .map((path) => relative(root, resolve(root, file, "..", path)))
      .filter((target) => !target.startsWith(`${folder}/`) && target.includes("/"))
      .map((target): [string, string] => [file, target]);
  });
}

describe.each(Object.entries(MAY))("%s", (folder, allowed) => {
  it(`imports only from ${allowed.join(", ") || "itself"}`, () => {
    const wrong = imports(folder).filter(([, target]) => !allowed.includes(target.split("/")[0]!));
    expect(wrong).toEqual([]);
  });
});

it.each(["prompts", "models", "tools", "agents"])("%s reaches others by their face only", (folder) => {
  const behind = imports(folder).filter(([, target]) => !/^[^/]+\/index\.js$/.test(target));
  expect(behind).toEqual([]);
});
