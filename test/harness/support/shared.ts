/** Data of others that tests read from `../shared`, where it is there. */
import { existsSync } from "node:fs";
import { it } from "vitest";
import { packageFile } from "../../../paths.js";

export const SHARED = packageFile("..", "shared");

/** A test that needs `../shared`; skipped, by that name, where it is absent. */
export function sharedIt(name: string, run: () => void | Promise<void>): void {
  const there = existsSync(SHARED);
  it.skipIf(!there)(there ? name : `${name} (skipped: ../shared is not there)`, run);
}
