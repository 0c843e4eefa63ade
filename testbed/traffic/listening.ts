/** Where programs listen. */
import type { Program, Protocol } from "./behaviour.js";

/** Every port that the program listens on, given its variables and arguments. */
export function listening(
  program: Program | undefined,
  variables: ReadonlyMap<string, string>,
  args: readonly string[],
): Map<number, Protocol> {
  const ports = new Map<number, Protocol>();
  for (const listen of program?.listens ?? []) {
    const text = listen.env === undefined ? undefined : variables.get(listen.env);
    const argument = listen.arg === undefined ? -1 : args.indexOf(listen.arg);
    const found =
      text !== undefined && text !== ""
        ? numbersIn(text)
        : argument >= 0
          ? numbersIn(args[argument + 1] ?? "")
          : listen.port === undefined
            ? []
            : [listen.port];
    for (const port of found) ports.set(port, listen.protocol);
  }
  return ports;
}

/** `8080`, `:8080`, `http://*:8080`, `PLAINTEXT://:9092,CONTROLLER://:9093`. */
function numbersIn(text: string): number[] {
  if (/^\d+$/.test(text)) return [Number(text)];
  return [...text.matchAll(/:(\d+)/g)].map((found) => Number(found[1]));
}

/** The number of a probe's port, which may be the name of a container port. */
export function numberOf(port: number | string, container: any): number {
  if (typeof port === "number") return port;
  const named = (container.ports ?? []).find((entry: any) => entry.name === port);
  return named?.containerPort ?? Number(port);
}
