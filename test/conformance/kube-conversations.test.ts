/** Recorded conversations with a real control plane, played against the simulated one through the real kubectl. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { packageFile } from "../../paths.js";
import { type Outcome, play } from "./conversations.js";

const DATA = packageFile("../shared/data/controlplane");
/** What the simulation reaches; a real control plane agrees with itself in 99.4 %. */
const REQUIRED = 0.98;

function hasKubectl(): boolean {
  try {
    execFileSync("kubectl", ["version", "--client"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const missing = !existsSync(DATA) ? "../shared is absent" : !hasKubectl() ? "kubectl is not installed" : undefined;

describe.skipIf(missing)(`recorded conversations${missing ? ` (skipped: ${missing})` : ""}`, () => {
  const folder = join(DATA, "conversations");
  const files = missing ? [] : readdirSync(folder).filter((name) => name.endsWith(".json"));
  const outcomes = new Map<string, Outcome>();

  it.each(files)("%s", { timeout: 240_000 }, async (file) => {
    const outcome = await play(join(folder, file), join(DATA, "fixtures"));
    outcomes.set(file, outcome);
    const share = outcome.equal / outcome.total;
    expect(share, JSON.stringify(outcome.differences, null, 1)).toBeGreaterThanOrEqual(REQUIRED - 0.03);
  });

  afterAll(() => {
    if (outcomes.size < files.length || files.length === 0) return;
    const sum = (key: "equal" | "total") => [...outcomes.values()].reduce((n, o) => n + o[key], 0);
    expect(sum("equal") / sum("total")).toBeGreaterThanOrEqual(REQUIRED);
  });
});
