/**
 * What a trial with the playbook costs: wall time of a process that runs one, of further ones in the same process, and
 * the most memory. Targets: 2 s, 1 s, 250 MB.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SCENARIO = "sre-24";

/** Runs `trials` trials in this process; prints their wall seconds and the peak memory. */
async function child(trials) {
  const [{ main }, { tuneEngine }] = await Promise.all([
    import("../dist/harness/cli/main.js"),
    import("../dist/harness/cli/engine.js"),
  ]);
  const folder = mkdtempSync(join(tmpdir(), "itbench-bench-"));
  let json = "";
  const io = {
    out: (text) => {
      json += text;
    },
    err: () => {},
    env: process.env,
    outIsTty: false,
    errIsTty: false,
    columns: 100,
    onInterrupt: () => () => {},
    exit: (code) => process.exit(code),
  };
  const options = ["--model", "playbook", "--trials", String(trials), "--out", join(folder, "run"), "--json"];
  const code = await main(["run", "--scenario", SCENARIO, ...options], io, tuneEngine);
  rmSync(folder, { recursive: true, force: true });
  const walls = JSON.parse(json).trials.map((trial) => trial.effort.wall_seconds);
  const { user, system } = process.cpuUsage();
  const cpu = (user + system) / 1e6;
  console.log(JSON.stringify({ code, walls, cpu, peakMb: process.resourceUsage().maxRSS / 1024 }));
}

function measure(trials) {
  const began = performance.now();
  const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "child", String(trials)], {
    encoding: "utf8",
  });
  const wall = (performance.now() - began) / 1000;
  if (!stdout) throw new Error(stderr);
  return { ...JSON.parse(stdout), wall };
}

if (process.argv[2] === "child") {
  await child(Number(process.argv[3]));
} else {
  const one = measure(1);
  const many = measure(6);
  const warm = many.walls.slice(1).sort((a, b) => a - b);
  const row = (label, value, target) => console.log(`  ${label.padEnd(34)} ${value.padStart(10)}   target ${target}`);
  console.log(`trial of ${SCENARIO} with the playbook`);
  row("one trial, process included", `${one.wall.toFixed(2)} s`, "2 s");
  row("further trials, median", `${warm[Math.floor(warm.length / 2)].toFixed(2)} s`, "1 s");
  row("further trials, slowest", `${warm.at(-1).toFixed(2)} s`, "1 s");
  // Says what it costs on a busy computer, too.
  row("further trials, CPU time each", `${((many.cpu - one.cpu) / 5).toFixed(2)} s`, "1 s");
  row("peak memory, one trial", `${one.peakMb.toFixed(0)} MB`, "250 MB");
  row("peak memory, six trials", `${many.peakMb.toFixed(0)} MB`, "250 MB");
}
