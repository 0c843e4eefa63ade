/** Whatever a server sends, and however long it goes on: what is read is bounded, and what is shown too. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { MAX_READ_BYTES } from "../../../tools/kubectl/client/rest.js";
import { runKubectl } from "../../../tools/kubectl/index.js";

const resource = (name: string, kind: string) => ({
  resource: name,
  singularResource: kind.toLowerCase(),
  responseKind: { kind },
  scope: "Namespaced",
  verbs: ["get", "list"],
});
const CORE = {
  kind: "APIGroupDiscoveryList",
  items: [
    {
      metadata: { name: "" },
      versions: [{ version: "v1", resources: [resource("pods", "Pod"), resource("secrets", "Secret")] }],
    },
  ],
};
const POD = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "cart-1", namespace: "shop" },
  spec: { containers: [{ name: "cart" }] },
};
const line = (n: number) => `line ${n} of a log that says the same again and again, and then once more\n`;

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

interface Endless {
  kubeconfig: string;
  /** Bytes that were handed to the sockets. */
  sent(): number;
  /** Paths with their query. */
  asked: string[];
}

/** Sends without end to every path but discovery and the pod itself, unless `answer` does it. */
async function endless(
  chunk: (n: number) => string,
  answer: (url: URL, response: ServerResponse) => boolean = () => false,
  status = 200,
): Promise<Endless> {
  let sent = 0;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://fake");
    response.on("error", () => undefined);
    if (url.pathname === "/api") return void response.end(JSON.stringify(CORE));
    if (url.pathname === "/apis")
      return void response.end(JSON.stringify({ kind: "APIGroupDiscoveryList", items: [] }));
    if (url.pathname.endsWith("/pods/cart-1")) return void response.end(JSON.stringify(POD));
    asked.push(url.pathname.split("/").at(-1) + url.search);
    if (answer(url, response)) return;
    response.writeHead(status);
    let n = 0;
    const more = () => {
      for (let free = true; free && !response.destroyed; ) {
        const text = chunk(n++);
        sent += text.length;
        free = response.write(text);
      }
    };
    response.on("drain", more);
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = mkdtempSync(join(tmpdir(), "itbench-bounds-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "shop" } }],
      "current-context": "x",
    }),
  );
  close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  };
  return { kubeconfig, sent: () => sent, asked };
}

const run = (text: string, kubeconfig: string) =>
  runKubectl(text, {
    kubeconfig,
    mode: "read-only",
    kubectl: "builtin",
    sleep: async () => undefined,
    now: () => 0,
    maxBytes: 64 * 1024,
  });

const block = "x".repeat(64 * 1024);
/** Sockets and streams buffer a little more than is read. */
const SLACK = 8 * 1024 * 1024;

describe("a server that never stops sending", () => {
  it.each([
    ["kubectl get secrets -n shop -o json", "ask for less"],
    ["kubectl get pods -n shop", "ask for less"],
    ["kubectl describe pods -n shop", "ask for less"],
    ["kubectl get --raw /api/v1/pods", "ask for less"],
    ["kubectl get pods -n shop -o json | jq .items | head -3", "ask for less"],
  ])("%s: %s", async (command, says) => {
    const server = await endless((n) => (n === 0 ? '{"kind":"List","items":["' : block));
    const { stdout, stderr, code } = await run(command, server.kubeconfig);
    expect(stderr).toContain(says);
    expect(code).not.toBe(0);
    expect(stdout.length).toBeLessThanOrEqual(70 * 1024);
    expect(server.sent()).toBeLessThan(MAX_READ_BYTES + SLACK);
  });

  it("logs: the log's end is asked for until it fits, and an endless one is cut", async () => {
    const server = await endless(() => block);
    const { stdout, stderr, code } = await run("kubectl logs --previous cart-1 -n shop", server.kubeconfig);
    expect(code).toBe(0);
    expect(stderr).toContain(
      "the log of cart-1/cart is longer than 4096 KiB: only its beginning was read; use --tail=N",
    );
    expect(stdout.length).toBeLessThan(70 * 1024);
    expect(server.asked.map((path) => /tailLines=(\d+)/.exec(path)?.[1])).toEqual([undefined, "10000", "1000", "100"]);
    expect(server.sent()).toBeLessThan(4 * (4 * 1024 * 1024 + SLACK));
  });

  it("logs behind a filter: the last lines of a long log are the ones that tail shows", async () => {
    const total = 2_000_000;
    const server = await endless(line, (url, response) => {
      const tail = Number(url.searchParams.get("tailLines"));
      if (tail === 0) return false;
      response.end(Array.from({ length: tail }, (_, i) => line(total - tail + i)).join(""));
      return true;
    });
    const { stdout, stderr } = await run("kubectl logs cart-1 -n shop | tail -n 2", server.kubeconfig);
    expect(stdout).toBe(line(total - 2) + line(total - 1));
    expect(stderr).toContain("only its last 10000 lines were read");
  });

  it("an error without end", async () => {
    const server = await endless(() => block, undefined, 500);
    const { stderr, code } = await run("kubectl get pods -n shop", server.kubeconfig);
    expect(code).toBe(1);
    expect(stderr.length).toBeLessThan(70 * 1024);
    expect(server.sent()).toBeLessThan(SLACK);
  });

  it("a list without a last page", async () => {
    const server = await endless(
      () => "",
      (_url, response) => {
        const items = Array.from({ length: 50 }, (_, i) => ({
          ...POD,
          metadata: { name: `p${i}`, note: "n".repeat(20_000) },
        }));
        response.end(JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { continue: "more" }, items }));
        return true;
      },
    );
    const { stderr } = await run("kubectl get pods -n shop -o json", server.kubeconfig);
    expect(stderr).toContain("longer than 32 MiB");
    expect(server.asked.length).toBeLessThan(40);
  });
});

it("a cut falls between characters", async () => {
  const server = await endless(() => "a€".repeat(10_000));
  const { stdout } = await run(
    "kubectl logs cart-1 -n shop --limit-bytes=99999999 | tail -n 1 | tail -c 5",
    server.kubeconfig,
  );
  expect(stdout).not.toContain("\uFFFD");
});
