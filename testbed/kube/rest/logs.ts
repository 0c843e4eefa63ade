/** GET pods/NAME/log. */
import { badRequest } from "../errors.js";
import type { KubeObject } from "../objects.js";
import type { ApiServer } from "../server.js";
import type { ApiResponse } from "./http.js";

/** How often a followed log is looked at, virtual milliseconds. */
const FOLLOW_MS = 500;

export function podLog(server: ApiServer, pod: KubeObject, query: URLSearchParams): ApiResponse {
  const container = chooseContainer(pod, query.get("container") ?? "");
  const previous = query.get("previous") === "true";
  const status = [
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.ephemeralContainerStatuses ?? []),
  ].find((s: any) => s.name === container);
  const name = pod.metadata.name;
  if (previous) {
    if (!status?.lastState?.terminated) {
      throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
    }
  } else if (!pod.spec?.nodeName) {
    return text("");
  } else if (!status?.state?.running && !status?.state?.terminated && !status?.lastState?.terminated) {
    const waiting = status?.state?.waiting;
    const why =
      waiting?.reason === "ErrImagePull" ||
      waiting?.reason === "ImagePullBackOff" ||
      waiting?.reason === "InvalidImageName"
        ? waiting.reason === "ErrImagePull"
          ? "image can't be pulled"
          : waiting.reason === "ImagePullBackOff"
            ? "trying and failing to pull image"
            : `${waiting.reason}`
        : (waiting?.reason ?? "ContainerCreating");
    throw badRequest(`container "${container}" in pod "${name}" is waiting to start: ${why}`);
  }
  const read = () => server.podLogs?.({ pod, container, previous });
  const lines = read();
  if (lines === undefined && server.podLogs === undefined && query.get("follow") !== "true") return text("");
  const now = server.clock.now();
  const select = options(query, now);
  const stamps = query.get("timestamps") === "true";
  const show = (l: { timeMs: number; line: string }) =>
    stamps ? `${new Date(l.timeMs).toISOString().slice(0, 23)}000000Z ${l.line}\n` : `${l.line}\n`;
  let body = select(lines ?? [])
    .map(show)
    .join("");
  const limit = query.get("limitBytes");
  if (limit !== null) body = Buffer.from(body).subarray(0, Number(limit)).toString();
  if (query.get("follow") !== "true") return text(body);
  return {
    ...text(""),
    stream(send, end) {
      if (body) send(body);
      let last = lines?.at(-1)?.timeMs ?? 0;
      let seen = (lines ?? []).filter((l) => l.timeMs === last).length;
      const timer = server.clock.every(FOLLOW_MS, () => {
        const all = read() ?? [];
        // Old lines may be dropped meanwhile: what is new is told by time, not by position.
        const at = all.filter((l) => l.timeMs === last).slice(seen);
        const fresh = [...at, ...all.filter((l) => l.timeMs > last)];
        if (fresh.length > 0) {
          send(fresh.map(show).join(""));
          const newest = fresh.at(-1)!.timeMs;
          seen = newest === last ? seen + fresh.length : fresh.filter((l) => l.timeMs === newest).length;
          last = newest;
        }
        const current = server.get("pods", pod.metadata.namespace, name);
        const state = current?.status?.containerStatuses?.find((s: any) => s.name === container)?.state;
        if (current?.metadata.uid !== pod.metadata.uid || state?.terminated) {
          timer.cancel();
          end();
        }
      });
      return () => timer.cancel();
    },
  };
}

/** Which lines the query asks for. @throws StatusError */
function options(query: URLSearchParams, now: number): <T extends { timeMs: number }>(lines: T[]) => T[] {
  const tail = integer(query, "tailLines");
  const seconds = integer(query, "sinceSeconds");
  const time = query.get("sinceTime");
  if (seconds !== undefined && time !== null) {
    throw badRequest("at most one of `sinceTime` or `sinceSeconds` may be specified");
  }
  const from = seconds !== undefined ? now - seconds * 1000 : time !== null ? Date.parse(time) : undefined;
  return (lines) => {
    let picked = from === undefined ? lines : lines.filter((l) => l.timeMs >= from);
    if (tail !== undefined) picked = tail === 0 ? [] : picked.slice(-tail);
    return picked;
  };
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === "") return undefined;
  if (!/^-?\d+$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing "${value}": invalid syntax`);
  }
  return Number(value);
}

/** The container that is meant. @throws StatusError 400 */
function chooseContainer(of: KubeObject, asked: string): string {
  const main: string[] = (of.spec?.containers ?? []).map((c: any) => c.name);
  const init: string[] = (of.spec?.initContainers ?? []).map((c: any) => c.name);
  const debug: string[] = (of.spec?.ephemeralContainers ?? []).map((c: any) => c.name);
  if (asked !== "") {
    if ([...main, ...init, ...debug].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${of.metadata.name}`);
  }
  if (main.length === 1) return main[0]!;
  const more = (names: string[], kind: string) =>
    names.length > 0 ? ` or one of the ${kind} containers: [${names.join(" ")}]` : "";
  throw badRequest(
    `a container name must be specified for pod ${of.metadata.name}, choose one of: [${main.join(" ")}]${more(init, "init")}${more(debug, "ephemeral")}`,
  );
}

function text(content: string): ApiResponse {
  return { status: 200, headers: { "content-type": "text/plain" }, body: content };
}
