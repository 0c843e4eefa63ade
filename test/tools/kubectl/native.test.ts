import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KubectlMissingError, runKubectl } from "../../../tools/kubectl/index.js";
import { type FakeServer, fakeServer } from "./fake-server.js";

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer({
    "GET /api/v1/namespaces/shop/secrets/creds": {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "creds" },
      data: { a: "c2VjcmV0" },
    },
  });
});
afterEach(() => server.close());

const OPTIONS = { mode: "read-only", kubectl: "native", now: () => 0, sleep: async () => {} } as const;

/** A program that stands for kubectl. */
function program(script: string): string {
  const path = join(server.folder, "kubectl");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe.skipIf(process.platform === "win32")("native kubectl", () => {
  it("says how to get one when there is none", async () => {
    const run = runKubectl("kubectl get pods", {
      ...OPTIONS,
      kubeconfig: server.kubeconfig,
      program: join(server.folder, "absent"),
    });
    await expect(run).rejects.toThrow(KubectlMissingError);
    await expect(run).rejects.toThrow(/brew install kubectl.*apt.*release page.*--kubectl builtin/s);
  });

  it("gets its words as they are, with a minimal environment, and its output goes through the filters", async () => {
    process.env.ITBENCH_TEST_KEY = "leaked";
    try {
      const result = await runKubectl(`kubectl get pods -l 'a in (b, c)' -o jsonpath='{"\\n"}' | grep -v nothing`, {
        ...OPTIONS,
        kubeconfig: server.kubeconfig,
        program: program(`printf '<%s>\\n' "$@"; env`),
      });
      expect(result).toMatchObject({ code: 0, stderr: "" });
      expect(result.stdout).toContain(`<get>\n<pods>\n<-l>\n<a in (b, c)>\n<-o>\n<jsonpath={"\\n"}>\n`);
      expect(result.stdout).toContain(`KUBECONFIG=${server.kubeconfig}`);
      expect(result.stdout).not.toContain("leaked");
    } finally {
      delete process.env.ITBENCH_TEST_KEY;
    }
  });

  it("gets the manifest on its standard input", async () => {
    const result = await runKubectl("kubectl apply -f -", {
      ...OPTIONS,
      mode: "read-write",
      kubeconfig: server.kubeconfig,
      stdin: "kind: ConfigMap\n",
      program: program("cat"),
    });
    expect(result.stdout).toBe("kind: ConfigMap\n");
  });

  it("shows its errors although a filter found nothing", async () => {
    const result = await runKubectl("kubectl get pods | grep x", {
      ...OPTIONS,
      kubeconfig: server.kubeconfig,
      program: program("echo oh no >&2; exit 3"),
    });
    expect(result).toEqual({ stdout: "", stderr: "oh no\n", code: 3 });
  });

  it("is stopped when it says too much or takes too long", async () => {
    const loud = await runKubectl("kubectl get pods", {
      ...OPTIONS,
      kubeconfig: server.kubeconfig,
      maxBytes: 10_000,
      program: program("yes"),
    });
    expect(loud.code).toBe(124);
    expect(loud.stderr).toMatch(/more than 10000 bytes/);
    const slow = await runKubectl("kubectl get pods", {
      ...OPTIONS,
      kubeconfig: server.kubeconfig,
      timeoutMs: 200,
      program: program("exec sleep 60"),
    });
    expect(slow).toMatchObject({ code: 124 });
  });

  it("never prints a Secret: the built-in one answers", async () => {
    for (const line of [
      "get secret creds -o yaml",
      "get SECRETS creds -o json",
      "describe secrets creds",
      "get --raw /api/v1/namespaces/shop/secrets/creds",
    ]) {
      const result = await runKubectl(`kubectl ${line}`, {
        ...OPTIONS,
        kubeconfig: server.kubeconfig,
        program: program("echo c2VjcmV0"),
      });
      expect(result.stdout).not.toContain("c2VjcmV0");
      expect(result.code).toBe(0);
    }
  });
});
