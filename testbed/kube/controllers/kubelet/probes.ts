/** Probes of a running container, at their own period, with their thresholds. */
import type { VirtualClock } from "../../../clock.js";
import type { ContainerRuntime } from "../../runtime.js";
import type { Container } from "./container.js";

export type ProbeKind = "startup" | "liveness" | "readiness";

export interface ProbeHost {
  clock: VirtualClock;
  runtime: ContainerRuntime;
  pod(): any;
  /** A single failed probe: the event. */
  failed(container: Container, kind: ProbeKind, message: string): void;
  /** The threshold is reached: the container must be restarted. */
  unhealthy(container: Container, kind: "startup" | "liveness"): void;
  /** `started` or `ready` of the container changed. */
  changed(): void;
}

/** Starts the container's probes; they end with the container's timers. Without probes it is started and ready at once. */
export function startProbes(host: ProbeHost, container: Container): void {
  const { startupProbe, readinessProbe } = container.spec;
  container.started = !startupProbe;
  container.ready = container.started && !readinessProbe;
  if (startupProbe) {
    run(host, container, "startup", startupProbe, (ok) => {
      if (ok) {
        container.started = true;
        container.ready = !readinessProbe;
        host.changed();
        afterStartup(host, container);
      } else host.unhealthy(container, "startup");
      return "stop";
    });
  } else afterStartup(host, container);
}

function afterStartup(host: ProbeHost, container: Container): void {
  const { livenessProbe, readinessProbe } = container.spec;
  if (readinessProbe) {
    run(host, container, "readiness", readinessProbe, (ok) => {
      if (container.ready !== ok) {
        container.ready = ok;
        host.changed();
      }
      return "go on";
    });
  }
  if (livenessProbe) {
    run(host, container, "liveness", livenessProbe, (ok) => {
      if (ok) return "go on";
      host.unhealthy(container, "liveness");
      return "stop";
    });
  }
}

/** Calls `verdict` when enough results in a row agree. */
function run(
  host: ProbeHost,
  container: Container,
  kind: ProbeKind,
  probe: any,
  verdict: (ok: boolean) => "go on" | "stop",
): void {
  const period = Math.max(1, probe.periodSeconds ?? 10) * 1000;
  const needed = (ok: boolean) => (ok ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3));
  let row = 0;
  let last: boolean | undefined;
  const tick = () => {
    const ref = { pod: host.pod(), container: container.spec, init: container.init, restarts: container.restarts };
    const { ok, message } = host.runtime.probe(ref, kind, probe);
    row = ok === last ? row + 1 : 1;
    last = ok;
    if (!ok) host.failed(container, kind, message ?? defaultFailure(probe));
    if (row >= needed(ok) && verdict(ok) === "stop") return;
    schedule(period);
  };
  const schedule = (ms: number) => {
    const timer = host.clock.after(ms, () => {
      container.timers.delete(timer);
      tick();
    });
    container.timers.add(timer);
  };
  schedule((probe.initialDelaySeconds ?? 0) * 1000);
}

function defaultFailure(probe: any): string {
  if (probe.httpGet) return "HTTP probe failed with statuscode: 500";
  if (probe.grpc) return 'service unhealthy (responded with "NOT_SERVING")';
  if (probe.tcpSocket) return "dial tcp: connect: connection refused";
  return "command failed";
}
