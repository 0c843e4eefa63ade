/** Simulated clusters for comparing the built-in kubectl with the real one: same seed, same objects, real HTTP. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "../../testbed/clock.js";
import { nodeSpecs, startControllers } from "../../testbed/kube/controllers/index.js";
import { ApiServer } from "../../testbed/kube/index.js";
import { Random } from "../../testbed/random.js";
import { serveKubernetes } from "../../testbed/servers/kubernetes.js";
import { Kubectl } from "../../tools/kubectl/index.js";
import { runNative } from "../../tools/kubectl/native.js";

export interface Answer {
  stdout: string;
  stderr: string;
  code: number;
}

export interface Bench {
  clock: VirtualClock;
  kubeconfig: string;
  builtin(line: string, stdin?: string): Promise<Answer>;
  /** The real kubectl; time passes while it runs. */
  native(argv: string[], stdin?: string): Promise<Answer>;
  /** Brings the clock to the wall clock, and lets time stand still from then on. */
  freeze(): void;
  close(): Promise<void>;
}

/** Virtual seconds that pass in each real one while the real kubectl runs. */
const SPEED = 20;
const BACK_MS = 600_000;

export async function startBench(options: {
  namespace: string;
  profile: "kwok" | "containerd";
  /** Whether there is a metrics server; true unless told. */
  metrics?: boolean;
}): Promise<Bench> {
  const { namespace, profile } = options;
  // Ten minutes back: `settleForReading` brings the clock to the real kubectl's own time, from which it counts ages.
  const clock = new VirtualClock(Math.floor(Date.now() / 1000) * 1000 - BACK_MS);
  const api = new ApiServer({
    clock,
    random: new Random("kubectl"),
    podLogs: ({ container, previous }) =>
      container === "quiet"
        ? undefined
        : Array.from({ length: 30 }, (_, i) => ({
            timeMs: clock.now() - (30 - i) * 10_000,
            line: `${container}${previous ? " (previous)" : ""} line ${i} level=${i % 7 === 0 ? "error" : "info"}`,
          })),
    ...(options.metrics === false
      ? {}
      : { usage: ({ container }) => ({ cpuCores: 0.0123 * container.length, memoryBytes: 34_567_890 }) }),
  });
  const controllers = startControllers(api, { profile, nodes: nodeSpecs(3, profile) });
  clock.settle();
  api.access.addToken("admin-token", { role: "admin" });
  const server = await serveKubernetes(api);
  const folder = mkdtempSync(join(tmpdir(), "itbench-kubectl-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, server.kubeconfig({ token: "admin-token", namespace }));
  const kubectl = new Kubectl({
    kubeconfig,
    mode: "read-write",
    kubectl: "builtin",
    maskSecrets: false,
    now: () => clock.now(),
    sleep: async (seconds) => clock.advance(seconds * 1000),
  });
  let frozen = false;
  return {
    clock,
    kubeconfig,
    builtin: (line, stdin) => kubectl.run(line, stdin === undefined ? {} : { stdin }),
    freeze() {
      clock.advanceTo(Date.now());
      frozen = true;
    },
    async native(argv, stdin) {
      let last = performance.now();
      const timer = setInterval(() => {
        const now = performance.now();
        if (!frozen) clock.advance(Math.round((now - last) * SPEED));
        last = now;
      }, 20);
      try {
        return await runNative(argv, {
          kubeconfig,
          home: folder,
          maxBytes: 1 << 22,
          timeoutMs: 30_000,
          ...(stdin === undefined ? {} : { stdin }),
        });
      } finally {
        clearInterval(timer);
      }
    },
    async close() {
      controllers.stop();
      await kubectl.close();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Why the real kubectl cannot be asked here; undefined when it can. */
export function kubectlMissing(): string | undefined {
  try {
    const text = execFileSync("kubectl", ["version", "--client", "-o", "json"], { encoding: "utf8" });
    const version: string = JSON.parse(text).clientVersion.gitVersion;
    return /^v1\.32\./.test(version) ? undefined : `kubectl here is ${version}; the built-in one follows v1.32`;
  } catch {
    return "no kubectl on PATH";
  }
}
