/** Watches: changes since a revision, then as they happen, filtered by selectors, with bookmarks. */
import { gone } from "../errors.js";
import type { KubeObject, WatchEvent } from "../objects.js";
import type { ResourceInfo } from "../resources.js";
import type { ApiServer } from "../server.js";
import type { ApiResponse } from "./http.js";

const BOOKMARK_MS = 60_000;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

export interface WatchOptions {
  namespace?: string;
  resourceVersion?: string;
  bookmarks: boolean;
  sendInitialEvents: boolean;
  timeoutSeconds?: number;
  matches(object: KubeObject): boolean;
  /** What is sent of an object: itself, a table row, its metadata. */
  show(object: KubeObject, first: boolean): unknown;
}

/** @throws StatusError 410 when the revision is too old */
export function watch(server: ApiServer, info: ResourceInfo, options: WatchOptions): ApiResponse {
  const { store, clock } = server;
  const version = options.resourceVersion;
  const fromNow = version === undefined || version === "" || version === "0";
  const initial = options.sendInitialEvents || fromNow;
  const past = initial ? [] : store.since(info.key, Number(version));
  if (past === undefined) {
    throw gone(`too old resource version: ${version} (${store.oldestRevision})`);
  }
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: "",
    stream(send, end) {
      let first = true;
      const write = (type: string, object: unknown) => send(`${JSON.stringify({ type, object })}\n`);
      const pass = (type: string, object: KubeObject) => {
        write(type, options.show(object, first));
        first = false;
      };
      const bookmark = (annotations?: Record<string, string>) => {
        const object = {
          kind: info.kind,
          apiVersion: info.group ? `${info.group}/${info.version}` : info.version,
          metadata: { resourceVersion: String(store.revision), ...(annotations ? { annotations } : {}) },
        };
        write("BOOKMARK", object);
      };
      const inScope = (object: KubeObject) =>
        options.namespace === undefined || options.namespace === "" || object.metadata.namespace === options.namespace;
      const deliver = (event: WatchEvent) => {
        const object = event.object;
        if (!inScope(object)) return;
        const now = event.type !== "DELETED" && options.matches(object);
        const before = event.previous !== undefined && options.matches(event.previous);
        if (now) pass(before ? "MODIFIED" : "ADDED", object);
        else if (before) pass("DELETED", object);
      };
      if (initial) {
        for (const object of store.list(info.key, options.namespace))
          if (options.matches(object)) pass("ADDED", object);
        if (options.sendInitialEvents && options.bookmarks) bookmark({ [INITIAL_EVENTS_END]: "true" });
      }
      for (const event of past) deliver(event);
      const stops = [store.watch(info.key, deliver)];
      if (options.bookmarks) {
        const timer = clock.every(BOOKMARK_MS, () => bookmark());
        stops.push(() => timer.cancel());
      }
      const stop = () => {
        for (const s of stops.splice(0)) s();
      };
      if (options.timeoutSeconds) {
        const timer = clock.after(options.timeoutSeconds * 1000, () => {
          stop();
          end();
        });
        stops.push(() => timer.cancel());
      }
      return stop;
    },
  };
}
