/**
 * Plays recorded conversations with a real control plane against a simulated one, and compares the answers after masking
 * what two servers cannot agree on: ids, times, hashes, addresses.
 */
import { spawn } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "../../testbed/clock.js";
import { nodeSpecs, startControllers } from "../../testbed/kube/controllers/index.js";
import { ApiServer } from "../../testbed/kube/index.js";
import { Random } from "../../testbed/random.js";
import { serveKubernetes } from "../../testbed/servers/kubernetes.js";
import { AGE, maskText, OVER } from "./masks.js";

interface KubectlStep {
  kubectl: string;
  namespace?: string;
  stdin?: string;
  rc: number;
  stdout: string;
  stderr: string;
}
interface HttpStep {
  method: string;
  path: string;
  accept: string;
  contentType?: string;
  body?: unknown;
  status: number;
  response: unknown;
}
type Step = KubectlStep | HttpStep | { settle: true };

export interface Outcome {
  equal: number;
  total: number;
  /** One entry a difference: the step, what was recorded, what came. */
  differences: { step: string; want: unknown; have: unknown }[];
}

const DROPPED = new Set([
  "description",
  "nodePort",
  "uid",
  "resourceVersion",
  "managedFields",
  "selfLink",
  "continue",
  "deployment.kubernetes.io/revision",
  "conditions",
  "remainingItemCount",
]);

function clean(value: any, dropStatus = false): any {
  if (Array.isArray(value)) return value.map((item) => clean(item, dropStatus));
  if (typeof value === "string") return maskText(value);
  if (typeof value !== "object" || value === null) return value;
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (DROPPED.has(key) || (dropStatus && key === "status")) continue;
    const cells = key === "cells" && Array.isArray(item);
    out[key] = clean(
      cells ? item.map((c) => (typeof c === "string" ? c.replace(new RegExp(`^${AGE}$`), "<age>") : c)) : item,
      dropStatus,
    );
  }
  return out;
}

/** Ages stand alone in a cell. */
function tableLine(line: string): string {
  return line
    .replace(/ {2,}|\t/g, "  ")
    .trimEnd()
    .replace(new RegExp(`^${AGE}${OVER}(?=  )`), "<age>")
    .replace(new RegExp(`(?<=  )${AGE}${OVER}(?=  |$)`, "g"), "<age>");
}

function outputOf(words: string, stdout: string): unknown {
  try {
    return clean(JSON.parse(stdout));
  } catch {
    // Not JSON: text.
  }
  let lines = maskText(stdout).split("\n");
  if (words.startsWith("describe")) {
    const cut = lines.findIndex((line) => line.startsWith("Non-terminated Pods:"));
    if (cut >= 0) lines = lines.slice(0, cut);
    lines = lines.map((line) =>
      /^\s+(Normal|Warning) /.test(line) ? tableLine(line) : line.trimEnd().replace(/ {2,}/g, "  "),
    );
  } else if (!/-o[ =]?yaml|--output=yaml/.test(words)) {
    lines = lines.filter((line) => !(words === "get ns" && line.startsWith("t-"))).map(tableLine);
  } else lines = lines.filter((line) => !/resourceVersion:|revision:/.test(line));
  if (/^describe (deploy|rs)/.test(words)) {
    lines = lines.filter((line) => !/ {2}(Scaled (up|down)|Created pod|Deleted pod)/.test(line));
  }
  while (lines.at(-1) === "") lines.pop();
  if (words.startsWith("rollout status")) lines = lines.slice(-1);
  return words.includes("events") || /^describe (cm|secret|limits)/.test(words) ? [...new Set(lines)].sort() : lines;
}

function comparable(step: KubectlStep | HttpStep): unknown {
  if ("kubectl" in step) {
    const errors = maskText(step.stderr)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("Warning: v1 Endpoints"));
    return { rc: step.rc, stdout: outputOf(step.kubectl, step.stdout), stderr: errors };
  }
  const body = step.response as any;
  const settled = step.method === "GET" || typeof body !== "object" || body?.kind === "Status";
  return { status: step.status, response: clean(body, !settled) };
}

/** Splits a line as a shell does: quotes group, a backslash inside double quotes stays. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"']+|"(?:[^"\\]|\\.)*"|'[^']*')+/g)].map(([word]) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, double, single) => single ?? (double as string).replace(/\\(["\\$`])/g, "$1"),
    ),
  );
}

/** Lets virtual time go on at half the speed of the wall clock, from wherever it is. */
function driveSlowly(clock: VirtualClock): () => void {
  const timer = setInterval(() => clock.advance(10), 20);
  return () => clearInterval(timer);
}

/** Plays one conversation on a cluster of its own. */
export async function play(conversationFile: string, fixtures: string): Promise<Outcome> {
  const talk = JSON.parse(readFileSync(conversationFile, "utf8")) as { namespace: string; steps: Step[] };
  const folder = mkdtempSync(join(tmpdir(), "itbench-conversation-"));
  cpSync(fixtures, join(folder, "fixtures"), { recursive: true });
  chmodSync(join(folder, "fixtures"), 0o755);
  const clock = new VirtualClock(Math.floor(Date.now() / 1000) * 1000);
  const api = new ApiServer({ clock, random: new Random("conversation") });
  const controllers = startControllers(api, { profile: "kwok", nodes: nodeSpecs(3, "kwok") });
  const token = "test-token";
  api.access.addToken(token, { role: "admin" });
  const server = await serveKubernetes(api);
  // Managed fields are listed by the second in which they were written: what belongs together must not straddle two.
  const stopTime = driveSlowly(clock);
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, server.kubeconfig({ token }));

  const kubectl = (line: string, namespace?: string, stdin?: string) => {
    const editor = /^EDITOR=\.\/(\S+) (.*)$/.exec(line);
    const words = editor?.[2] ?? line;
    const args = shellWords(words);
    if (
      namespace &&
      !args.some((a) => ["-A", "--all-namespaces", "-n"].includes(a)) &&
      !words.startsWith("get --raw")
    ) {
      args.unshift("-n", namespace);
    }
    const env = {
      ...process.env,
      KUBECONFIG: kubeconfig,
      KUBE_EDITOR: editor ? join(folder, "fixtures", editor[1]!) : "true",
    };
    return new Promise<Pick<KubectlStep, "rc" | "stdout" | "stderr">>((resolve) => {
      const child = spawn("kubectl", args, { cwd: folder, env, stdio: "pipe", timeout: 90_000 });
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk) => (stdout += chunk));
      child.stderr.on("data", (chunk) => (stderr += chunk));
      child.on("close", (rc) => resolve({ rc: rc ?? -1, stdout, stderr }));
      child.stdin.end(stdin ?? "");
    });
  };
  const http = (step: HttpStep) =>
    new Promise<Pick<HttpStep, "status" | "response">>((resolve, reject) => {
      const body =
        step.body === undefined || step.body === null
          ? undefined
          : typeof step.body === "string"
            ? step.body
            : JSON.stringify(step.body);
      const url = new URL(server.url + step.path);
      const outgoing = request(
        url,
        {
          method: step.method,
          ca: server.ca,
          agent: false,
          headers: {
            authorization: `Bearer ${token}`,
            accept: step.accept,
            ...(body === undefined
              ? {}
              : {
                  "content-type": step.contentType ?? "application/json",
                  "content-length": String(Buffer.byteLength(body)),
                }),
          },
        },
        (answer) => {
          let text = "";
          answer.on("data", (chunk) => (text += chunk));
          answer.on("end", () => {
            let response: unknown = text;
            try {
              response = JSON.parse(text);
            } catch {
              // Kept as text.
            }
            resolve({ status: answer.statusCode ?? 0, response });
          });
        },
      );
      outgoing.on("error", reject);
      outgoing.end(body);
    });

  const outcome: Outcome = { equal: 0, total: 0, differences: [] };
  try {
    await kubectl(`create ns ${talk.namespace}`);
    for (const step of talk.steps) {
      if ("settle" in step) {
        // Long enough for anything that these conversations start to come to rest; time is ours.
        clock.advance(4_000);
        continue;
      }
      if (clock.now() % 1000 > 400) clock.advanceTo(Math.ceil(clock.now() / 1000) * 1000);
      const got = {
        ...step,
        ...("kubectl" in step ? await kubectl(step.kubectl, step.namespace, step.stdin) : await http(step)),
      };
      const want = comparable(step);
      const have = comparable(got);
      outcome.total++;
      if (JSON.stringify(sorted(want)) === JSON.stringify(sorted(have))) outcome.equal++;
      else
        outcome.differences.push({
          step: "kubectl" in step ? step.kubectl : `${step.method} ${step.path}`,
          want,
          have,
        });
    }
  } finally {
    stopTime();
    controllers.stop();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return outcome;
}

function sorted(value: any): any {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
