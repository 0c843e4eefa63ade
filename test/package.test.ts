import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { packageFile, packageRoot } from "../paths.js";

const git = (...args: string[]) => execFileSync("git", args, { cwd: packageRoot(), encoding: "utf8" }).split("\n");

const cloned = existsSync(packageFile(".git"));

it.skipIf(!cloned)("what the code reads from disk is in the package", () => {
  const packed = JSON.parse(
    execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: packageRoot(),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
  const files = new Set(packed[0].files.map((file: { path: string }) => file.path));
  const folders = ["agents", "harness", "models", "prompts", "scenarios", "testbed", "tools"];
  const data = git("ls-files", ...folders).filter((file) => file !== "" && !file.endsWith(".ts"));
  expect(data.length).toBeGreaterThan(20);
  expect(data.filter((file) => !files.has(file))).toEqual([]);
  const sources = [...files].filter((file) => String(file).endsWith(".ts") && !String(file).endsWith(".d.ts"));
  expect(sources).toEqual([]);
});
