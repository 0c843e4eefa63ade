/** Runs the benchmarks of this folder one after another, or those named: `npm run bench -- trial promql`. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const all = readdirSync(folder)
  .filter((name) => name.endsWith(".mjs") && name !== "run.mjs")
  .map((name) => name.slice(0, -".mjs".length));
const wanted = process.argv.length > 2 ? process.argv.slice(2) : all;
for (const name of wanted) {
  if (!all.includes(name)) {
    console.error(`no benchmark "${name}"; there are: ${all.join(", ")}`);
    process.exit(2);
  }
  console.log(`\n== ${name}`);
  const { status } = spawnSync(process.execPath, [join(folder, `${name}.mjs`)], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
