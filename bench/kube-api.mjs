/**
 * How fast the simulated API server is: GETs and lists over TLS, and writes in process.
 *
 *     npm run build && node bench/kube-api.mjs
 *
 * For scale: a real kube-apiserver with etcd lists 25 pods in 4.0 ms and answers 2,000 GET/s on 2 cores.
 */
import { Agent, request } from "node:https";
import { VirtualClock } from "../dist/testbed/clock.js";
import { ApiServer } from "../dist/testbed/kube/index.js";
import { Random } from "../dist/testbed/random.js";
import { serveKubernetes } from "../dist/testbed/servers/kubernetes.js";

const clock = new VirtualClock(Date.parse("2026-12-01T12:00:00Z"));
const start = performance.now();
const api = new ApiServer({ clock, random: new Random("bench") });
const boot = performance.now() - start;
api.access.addToken("t", { role: "admin" });

const pod = (i) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `pod-${i}`, namespace: "default", labels: { app: `a${i % 5}` } },
  spec: {
    containers: [
      {
        name: "main",
        image: "nginx:1.27",
        env: Array.from({ length: 12 }, (_, j) => ({ name: `VAR_${j}`, value: `value ${j}` })),
        ports: [{ containerPort: 8080, name: "http" }],
        resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
      },
    ],
  },
});
for (let i = 0; i < 25; i++) api.create("pods", pod(i));

function time(what, times, run) {
  for (let i = 0; i < Math.min(times, 200); i++) run(i);
  const from = performance.now();
  for (let i = 0; i < times; i++) run(i + 1000);
  const us = ((performance.now() - from) / times) * 1000;
  console.log(`${what.padEnd(44)} ${us.toFixed(1).padStart(8)} us`);
}

console.log(`${"start of a server".padEnd(44)} ${(boot * 1000).toFixed(0).padStart(8)} us`);
time("create a pod, in process", 1000, (i) => {
  api.create("pods", pod(`x${i}`));
  api.delete("pods", "default", `pod-x${i}`);
});
time("modify a pod's status, in process", 2000, (i) =>
  api.modify(
    "pods",
    "default",
    "pod-1",
    (draft) => {
      draft.status.message = `turn ${i}`;
    },
    { subresource: "status", manager: "kubelet" },
  ),
);

const server = await serveKubernetes(api);
const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: server.ca });
const get = (path, accept = "application/json") =>
  new Promise((resolve, reject) => {
    request(server.url + path, { agent, headers: { authorization: "Bearer t", accept } }, (answer) => {
      let size = 0;
      answer.on("data", (chunk) => (size += chunk.length));
      answer.on("end", () => resolve(size));
    })
      .on("error", reject)
      .end();
  });
const LIST = "/api/v1/namespaces/default/pods?limit=500";
async function latency(what, path, accept) {
  for (let i = 0; i < 50; i++) await get(path, accept);
  const from = performance.now();
  for (let i = 0; i < 300; i++) await get(path, accept);
  console.log(`${what.padEnd(44)} ${(((performance.now() - from) / 300) * 1000).toFixed(0).padStart(8)} us`);
}
await latency("GET a pod", "/api/v1/namespaces/default/pods/pod-3");
await latency("list 25 pods", LIST);
await latency("list 25 pods as a table", LIST, "application/json;as=Table;v=v1;g=meta.k8s.io");
const from = performance.now();
const REQUESTS = 6000;
let sent = 0;
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (sent++ < REQUESTS) await get("/api/v1/namespaces/default/pods/pod-3");
  }),
);
console.log(
  `${"GET/s over 8 connections, client included".padEnd(44)} ${(REQUESTS / ((performance.now() - from) / 1000)).toFixed(0).padStart(8)}`,
);
agent.destroy();
await server.close();
