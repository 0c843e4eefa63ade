/**
 * What the playbook is worth: every SRE scenario of the library, five seeds, and the same without the fault.
 *
 *     npm run build && node bench/playbook.mjs [--seeds 5] [--scenario 'sre-*'] [other options of `itbench run`]
 *
 * Other options go to `itbench run`: `node bench/playbook.mjs --no-traces` shows what it is worth without traces. Exits
 * with 1 when it raises a false alarm, or resolves fewer scenarios than TARGET asks for, in the median over seeds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../dist/harness/cli/main.js";

/** Share of scenarios to resolve: six of the first seven. */
const TARGET = 6 / 7;

const argv = process.argv.slice(2);
const seeds = Number(take("--seeds") ?? 5);
const scenario = take("--scenario") ?? "sre-*";

function take(name) {
  const at = argv.indexOf(name);
  return at < 0 ? undefined : argv.splice(at, 2)[1];
}

/** The trials of one seed. */
async function run(seed, ...more) {
  const folder = mkdtempSync(join(tmpdir(), "itbench-playbook-"));
  let out = "";
  let err = "";
  const io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    env: process.env,
    outIsTty: false,
    errIsTty: false,
    columns: 100,
    onInterrupt: () => () => {},
    exit: (code) => process.exit(code),
  };
  const fixed = ["--model", "playbook", "--seed", String(seed), "--out", join(folder, "run"), "--json"];
  const code = await main(["run", "--scenario", scenario, ...fixed, ...more, ...argv], io);
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0 && out === "") throw new Error(err);
  return JSON.parse(out).trials;
}

const all = [];
const healthy = [];
for (let seed = 1; seed <= seeds; seed++) {
  all.push(...(await run(seed)));
  healthy.push(...(await run(seed, "--healthy")));
}

const ids = [...new Set(all.map((trial) => trial.scenario))];
const share = (trials, score) => `${trials.filter((trial) => trial[score] === 1).length}/${trials.length}`;
const row = (cells) => console.log(cells.map((cell, i) => String(cell)[i === 0 ? "padEnd" : "padStart"](12)).join(""));
console.log(`playbook (rule-based, not an LLM), seeds 1 to ${seeds}${argv.length ? `, ${argv.join(" ")}` : ""}`);
row(["scenario", "diagnosis", "mitigation", "resolved", "false alarm", "steps"]);
const line = (id, trials, twins) => {
  const steps = trials.map((trial) => trial.effort.steps).sort((a, b) => a - b);
  const scores = ["diagnosis", "mitigation", "resolved"].map((score) => share(trials, score));
  row([id, ...scores, share(twins, "false_alarm"), steps[Math.floor(steps.length / 2)]]);
};
for (const id of ids) {
  line(
    id,
    all.filter((trial) => trial.scenario === id),
    healthy.filter((trial) => trial.scenario === `${id}-healthy`),
  );
}
line("all", all, healthy);
for (const trial of [...all, ...healthy].filter(({ reason }) => reason !== null)) {
  console.log(`  ${trial.scenario}, seed ${trial.seed}: ${trial.reason}: ${trial.reason_detail ?? ""}`);
}

const solved = ids.filter(
  (id) => all.filter((trial) => trial.scenario === id && trial.resolved === 1).length > seeds / 2,
).length;
const alarms = healthy.filter((trial) => trial.false_alarm === 1).length;
console.log(
  `resolved in most seeds: ${solved} of ${ids.length} scenarios; false alarms: ${alarms} of ${healthy.length}`,
);
if (alarms > 0 || solved < ids.length * TARGET) process.exitCode = 1;
