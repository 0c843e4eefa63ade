/** All that a tool knows of an environment: where its interfaces are. The same for a simulated and a live one. */
export interface ToolEndpoints {
  /** Path of a kubeconfig. */
  kubeconfig: string;
  /** Base URLs without a trailing slash. */
  prometheus: string;
  alertmanager: string;
  loki: string;
  jaeger: string;
  opencost?: string;
  token?: string;
}

/** The environment's time, as an agent's tools need it (Wait, polling). */
export interface ToolClock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(seconds: number, signal?: AbortSignal): Promise<void>;
}
