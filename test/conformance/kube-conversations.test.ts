/**
 * Recorded conversations with a real control plane, played against the simulated one through the real kubectl: those of
 * `../shared`, and our own, which were recorded from the same set-up (kube-apiserver, controller-manager and scheduler
 * 1.34.2, kwok 0.8.0 with its fast stages, three nodes of 8 CPU and 32 GiB, no service account admission).
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { packageFile } from "../../paths.js";
import { type Outcome, play } from "./conversations.js";

interface Place {
  name: string;
  conversations: string;
  fixtures: string;
  /** Share of equal answers that the simulation reaches; a real control plane agrees with itself in 99.4 %. */
  required: number;
  /** What a single conversation may be worse: some are short. */
  slack: number;
}

const SHARED = packageFile("../shared/data/controlplane");
const PLACES: Place[] = [
  {
    name: "../shared",
    conversations: join(SHARED, "conversations"),
    fixtures: join(SHARED, "fixtures"),
    required: 0.98,
    slack: 0.03,
  },
  {
    name: "our own",
    conversations: packageFile("test/conformance/conversations"),
    fixtures: packageFile("test/conformance/conversations/fixtures"),
    required: 0.96,
    slack: 0.04,
  },
];

function hasKubectl(): boolean {
  try {
    execFileSync("kubectl", ["version", "--client"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const kubectl = hasKubectl();

describe.each(PLACES)("recorded conversations, $name", ({ conversations, fixtures, required, slack }) => {
  const missing = !existsSync(conversations) ? "../shared is absent" : kubectl ? undefined : "kubectl is not installed";
  const files = missing ? [] : readdirSync(conversations).filter((name) => name.endsWith(".json"));
  const outcomes = new Map<string, Outcome>();
  if (missing) it.skip(`skipped: ${missing}`, () => undefined);

  // Most of the time is kubectl's, outside of this process.
  it.concurrent.for(files)("%s", { timeout: 240_000 }, async (file, { expect }) => {
    const outcome = await play(join(conversations, file), fixtures);
    outcomes.set(file, outcome);
    const share = outcome.equal / outcome.total;
    expect(share, JSON.stringify(outcome.differences, null, 1)).toBeGreaterThanOrEqual(required - slack);
  });

  afterAll(() => {
    if (outcomes.size < files.length || files.length === 0) return;
    const sum = (key: "equal" | "total") => [...outcomes.values()].reduce((n, o) => n + o[key], 0);
    expect(sum("equal") / sum("total")).toBeGreaterThanOrEqual(required);
  });
});
