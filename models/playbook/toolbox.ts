/** The tools that the playbook was given, by what they are for: it reads names and parameters, as any model does. */
import type { Call } from "./script.js";

export interface Toolbox {
  kubectl: string;
  alerts: string;
  wait: string;
  /** Absent where the agent may not read traces. */
  traces?: string;
  submit: string;
  /** Namespaces that the task names; empty when it names none. */
  namespaces: string[];
}

/** A literal command needs no translation: the tool runs it as it is. */
export function kubectlCall(toolbox: Toolbox, command: string, manifest?: string): Call {
  return { tool: toolbox.kubectl, args: { command, ...(manifest === undefined ? {} : { manifest }) } };
}

export function alertsCall(toolbox: Toolbox): Call {
  return { tool: toolbox.alerts, args: {} };
}

export function waitCall(toolbox: Toolbox, seconds: number): Call {
  return { tool: toolbox.wait, args: { seconds } };
}

/** Failed traces through `service` in the last minutes. */
export function failedTracesCall(tool: string, service: string): Call {
  return { tool, args: { service, errors_only: true, minutes: 10, limit: 20 } };
}
