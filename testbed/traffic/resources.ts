/** What containers may use, and what they do use. */
import type { Process } from "./processes.js";

/** Memory of a program that nobody has described. */
const DEFAULT_MEMORY = 16 * 1024 * 1024;

/** Bytes that a process holds: its idle size, what it grows to in its first ten minutes, a slow wave, and what it leaked. */
export function memoryOf(process: Process, nowMs: number): number {
  const idle = process.program?.idle.memoryBytes ?? DEFAULT_MEMORY;
  const age = Math.min(1, (nowMs - process.startedAt) / 600_000);
  const wave = 0.01 * Math.sin(nowMs / 90_000 + process.podName.charCodeAt(process.podName.length - 1));
  return Math.min(process.memoryLimit, Math.round(idle * (0.9 + 0.1 * age + wave) + process.leakedBytes));
}

/** Bytes of the container's memory limit; infinite without one. */
export function memoryLimit(container: any): number {
  const text = container.resources?.limits?.memory;
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const found = /^([\d.]+)(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/.exec(String(text));
  if (!found) return Number.POSITIVE_INFINITY;
  const factors: Record<string, number> = {
    m: 1e-3,
    k: 1e3,
    M: 1e6,
    G: 1e9,
    T: 1e12,
    Ki: 1024,
    Mi: 1024 ** 2,
    Gi: 1024 ** 3,
    Ti: 1024 ** 4,
  };
  return Number(found[1]) * (factors[found[2] ?? ""] ?? 1);
}

/** Cores of the container's CPU limit; infinite without one. */
export function cpuLimit(container: any): number {
  const text = container.resources?.limits?.cpu;
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const cores = String(text).endsWith("m") ? Number.parseInt(text, 10) / 1000 : Number(text);
  return cores > 0 ? cores : Number.POSITIVE_INFINITY;
}
