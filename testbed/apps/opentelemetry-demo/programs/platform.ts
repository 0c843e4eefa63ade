/** What the shop stands on: flags, stores, and the observability stack (idle here: the testbed's faces serve its data). */
import type { Listen, Program } from "../../../traffic/behaviour.js";
import { MiB } from "./calls.js";

function idle(image: string, memoryMiB: number, ports: number[]): Program {
  const listens: Listen[] = ports.map((port) => ({ port, protocol: "http" }));
  return { language: "go", image, listens, idle: { cpuCores: 0.01, memoryBytes: memoryMiB * MiB } };
}

export const platform: Record<string, Program> = {
  flagd: {
    language: "go",
    image: "ghcr.io/open-feature/flagd",
    entrypoint: ["/flagd-build"],
    role: "flags",
    listens: [
      { arg: "--port", port: 8013, protocol: "grpc" },
      { arg: "--ofrep-port", port: 8016, protocol: "http" },
    ],
    operations: { evaluate: { ms: 0.4, span: "flagd.evaluation.v1.Service/ResolveBoolean" } },
    banner: [
      '{"level":"info","ts":"{time}","caller":"flag-evaluation/connect_service.go:247","msg":"Flag IResolver listening at [::]:{port}"}',
    ],
    idle: { cpuCores: 0.003, memoryBytes: 34 * MiB },
    needsBytes: 20 * MiB,
    cpuMs: 0.1,
  },
  "flagd-ui": {
    language: "elixir",
    image: "flagd-ui",
    entrypoint: ["/app/bin/server"],
    shell: true,
    listens: [{ env: "FLAGD_UI_PORT", port: 4000, protocol: "http" }],
    banner: ["{time} [info] Running FlagdUiWeb.Endpoint with Bandit at :::{port} (http)"],
    idle: { cpuCores: 0.002, memoryBytes: 140 * MiB },
    needsBytes: 100 * MiB,
  },
  "astronomy-db": {
    language: "native",
    image: "postgres",
    entrypoint: ["docker-entrypoint.sh", "postgres"],
    shell: true,
    role: "database",
    listens: [{ arg: "-p", port: 5432, protocol: "postgres" }],
    operations: { query: { ms: 0.8 } },
    refusalLog: "{time} UTC [214] FATAL:  {error}",
    banner: [
      '{time} UTC [1] LOG:  listening on IPv4 address "0.0.0.0", port {port}',
      "{time} UTC [1] LOG:  database system is ready to accept connections",
    ],
    idle: { cpuCores: 0.004, memoryBytes: 62 * MiB },
    needsBytes: 40 * MiB,
    cpuMs: 0.3,
  },
  "valkey-cart": {
    language: "native",
    image: "ghcr.io/valkey-io/valkey",
    entrypoint: ["valkey-server", "docker-entrypoint.sh"],
    shell: true,
    listens: [{ arg: "--port", port: 6379, protocol: "redis" }],
    operations: { command: { ms: 0.2 } },
    banner: ["1:M {time} * Server initialized", "1:M {time} * Ready to accept connections tcp"],
    idle: { cpuCores: 0.003, memoryBytes: 8 * MiB },
    needsBytes: 4 * MiB,
    cpuMs: 0.05,
  },
  "opamp-server": {
    language: "go",
    image: "opamp-server",
    entrypoint: ["/opamp-server"],
    listens: [
      { port: 4320, protocol: "http" },
      { port: 4321, protocol: "http" },
    ],
    banner: ["{time} OpAMP Server starting...", "{time} OpAMP Server running..."],
    idle: { cpuCores: 0.001, memoryBytes: 22 * MiB },
    needsBytes: 12 * MiB,
  },
  "otel-collector": idle("otel/opentelemetry-collector-contrib", 140, [4317, 4318, 8888]),
  prometheus: idle("quay.io/prometheus/prometheus", 180, [9090]),
  jaeger: idle("jaegertracing/jaeger", 150, [4317, 16686]),
  loki: idle("grafana/loki", 120, [3100]),
  grafana: idle("grafana/grafana", 110, [3000]),
};
