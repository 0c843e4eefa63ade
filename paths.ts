/**
 * Data files (schema table, manifests, prompts, scenarios) stay where they are in the source tree and ship with the
 * package: compiled code in `dist/` and sources run by the tests find the same ones.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

let root: string | undefined;

/** The package's root folder: the nearest one above this file that holds package.json. */
export function packageRoot(): string {
  if (root === undefined) {
    let folder = dirname(fileURLToPath(import.meta.url));
    while (!existsSync(join(folder, "package.json"))) {
      const parent = dirname(folder);
      if (parent === folder) throw new Error("itbench-baselines: package.json not found above the installed code");
      folder = parent;
    }
    root = folder;
  }
  return root;
}

/** Absolute path of a file of the package: `packageFile("scenarios", "sre")`. */
export function packageFile(...parts: string[]): string {
  return join(packageRoot(), ...parts);
}

/** The package's version, from its package.json. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version;
}
