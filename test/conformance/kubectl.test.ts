/**
 * The built-in kubectl beside the real one: the same commands against the same simulated cluster, and the recorded
 * conversations with a real control plane.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageFile } from "../../paths.js";
import { splitWords } from "../../tools/kubectl/words.js";
import { type Answer, type Bench, kubectlMissing, startBench } from "./kubectl-cluster.js";
import { maskAnswer } from "./kubectl-mask.js";
import { WRITES } from "./kubectl-writes.js";

const here = (name: string) => packageFile("test", "conformance", name);
const NAMESPACE = "trial";
const missing = kubectlMissing();
const show = process.env.KUBECTL_DIFF !== undefined;

function words(line: string): string[] {
  const split = splitWords(line);
  if (!split.ok) throw new Error(`${line}: ${split.error}`);
  return split.tokens.map((token) => token.text);
}

async function prepare(bench: Bench, storage: boolean): Promise<void> {
  await bench.builtin(`kubectl create namespace ${NAMESPACE}`);
  bench.clock.advance(2000);
  const manifest = readFileSync(here("kubectl-fixture.yaml"), "utf8");
  // Fake nodes come without a storage class: a pod with a claim would never be placed.
  const made = await bench.builtin(
    "kubectl apply -f -",
    storage ? manifest : manifest.replace(/^.*claimName: disk.*\n/m, ""),
  );
  if (made.code !== 0) throw new Error(made.stderr);
  await bench.builtin("kubectl create -f -", readFileSync(here("kubectl-custom.yaml"), "utf8"));
  bench.clock.advance(2000);
  const custom =
    "apiVersion: stable.example/v1\nkind: CronTab\nmetadata: {name: nightly}\nspec: {schedule: '0 3 * * *', count: 2}\n";
  await bench.builtin("kubectl apply -f -", custom);
  bench.clock.advance(120_000);
}

/** What must be the same; differences go into `problems`. */
function compare(line: string, native: Answer, builtin: Answer, problems: string[], exact = false): void {
  const [want, have] = [maskAnswer(line, native, exact), maskAnswer(line, builtin, exact)];
  if (JSON.stringify(want) === JSON.stringify(have)) return;
  problems.push(`kubectl ${line}`);
  if (show)
    for (const key of ["code", "stderr", "stdout"] as const)
      if (want[key] !== have[key])
        console.log(`--- kubectl ${line}\n  real ${key}:\n${want[key]}\n  built-in ${key}:\n${have[key]}`);
}

describe.skipIf(missing)(`the built-in kubectl beside the real one${missing ? ` (skipped: ${missing})` : ""}`, () => {
  describe("reading", () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await startBench({ namespace: NAMESPACE, profile: "containerd" });
      await prepare(bench, true);
      bench.freeze();
    });
    afterAll(() => bench?.close());

    const lines = readFileSync(here("kubectl-reads.txt"), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    it(`says the same for ${lines.length} commands`, async () => {
      const problems: string[] = [];
      for (const line of lines)
        compare(line, await bench.native(words(line)), await bench.builtin(`kubectl ${line}`), problems, true);
      console.log(`reading: ${lines.length - problems.length}/${lines.length} equal`);
      expect(problems).toEqual([]);
    }, 300_000);
  });

  describe("writing", () => {
    const benches: Bench[] = [];
    beforeAll(async () => {
      for (const _ of [0, 1]) {
        const bench = await startBench({ namespace: NAMESPACE, profile: "kwok" });
        benches.push(bench);
        await prepare(bench, false);
      }
    });
    afterAll(() => Promise.all(benches.map((bench) => bench.close())));

    it(`does and says the same for ${WRITES.length} commands`, async () => {
      const [real, own] = benches as [Bench, Bench];
      const problems: string[] = [];
      for (const { line, stdin } of WRITES) {
        const native = await real.native(words(line), stdin);
        compare(line, native, await own.builtin(`kubectl ${line}`, stdin), problems);
        real.clock.advance(40_000);
        own.clock.advance(40_000);
      }
      console.log(`writing: ${WRITES.length - problems.length}/${WRITES.length} equal`);
      expect(problems).toEqual([]);
    }, 300_000);
  });
});

const recorded = packageFile("..", "shared", "data", "controlplane");
const noData = existsSync(recorded) ? undefined : "../shared/data/controlplane is not here";

interface Step {
  kubectl?: string;
  method?: string;
  settle?: boolean;
  namespace?: string;
  stdin?: string;
  rc: number;
  stdout: string;
  stderr: string;
}

/** Fixtures are read from files; ours takes them from the tool's manifest argument. */
function throughStdin(step: Step): { line: string; stdin: string | undefined; file: string | undefined } {
  const file = /-f (fixtures\/\S+)/.exec(step.kubectl as string)?.[1];
  if (!file) return { line: step.kubectl as string, stdin: step.stdin, file };
  return { line: (step.kubectl as string).replace(file, "-"), stdin: readFileSync(join(recorded, file), "utf8"), file };
}

/** Differs by design: no editor, nobody to act as, no such file, Kubernetes without a runtime. */
const APART = /EDITOR=|--as |fixtures\/nope/;

describe.skipIf(noData)(
  `the built-in kubectl in recorded conversations${noData ? ` (skipped: ${noData})` : ""}`,
  () => {
    for (const name of ["reads", "apply", "rollouts", "patches"])
      it(`answers as recorded: ${name}`, async () => {
        const talk = JSON.parse(readFileSync(join(recorded, "conversations", `${name}.json`), "utf8")) as {
          namespace: string;
          steps: Step[];
        };
        const bench = await startBench({ namespace: talk.namespace, profile: "kwok", metrics: false });
        const problems: string[] = [];
        let asked = 0;
        try {
          await bench.builtin(`kubectl create ns ${talk.namespace}`);
          bench.clock.advance(1000);
          for (const step of talk.steps) {
            if (step.settle) bench.clock.advance(40_000);
            if (step.kubectl === undefined || APART.test(step.kubectl)) continue;
            const { line, stdin, file } = throughStdin(step);
            const got = await bench.builtin(`kubectl ${line}`, stdin);
            asked++;
            const want: Answer = {
              code: step.rc,
              stdout: step.stdout,
              stderr: file ? step.stderr.replaceAll(file, "STDIN") : step.stderr,
            };
            compare(line, want, got, problems);
            bench.clock.advance(1000);
          }
        } finally {
          await bench.close();
        }
        console.log(`${name}: ${asked - problems.length}/${asked} as recorded`);
        expect(problems.length, problems.join("\n")).toBeLessThanOrEqual(Math.floor(asked * 0.1));
      }, 120_000);
  },
);
