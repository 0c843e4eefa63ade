/** Marks the command line's entry as executable after a build, so that `npx itbench` works from a clone. */
import { chmodSync, existsSync } from "node:fs";

const entry = "dist/harness/cli/main.js";
if (existsSync(entry)) chmodSync(entry, 0o755);
