/** Puts a Hono application on a socket of 127.0.0.1, for the HTTP faces. */
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import type { Hono, MiddlewareHandler } from "hono";
import { EnvironmentError } from "../errors.js";

export interface ServeOptions {
  /** TCP port; default: any free one. */
  port?: number;
  /** Address to listen on; default 127.0.0.1. */
  host?: string;
}

/** A running face. */
export interface Face {
  /** Base URL without a trailing slash. */
  url: string;
  /** Stops listening and ends open connections; safe to call twice. */
  close(): Promise<void>;
}

/**
 * Listens; resolves once requests are taken.
 * @param name for messages: "Loki", "Jaeger"
 * @throws EnvironmentError when the port is in use
 */
export function serveApp(app: Hono<any>, name: string, options: ServeOptions = {}): Promise<Face> {
  const host = options.host ?? "127.0.0.1";
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port: options.port ?? 0, overrideGlobalObjects: false });
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") return reject(error);
      reject(
        new EnvironmentError(
          `port ${options.port} for ${name} is in use: choose another one, or none for any free port`,
        ),
      );
    });
    server.once("listening", () => {
      const { port } = server.address() as AddressInfo;
      let closed: Promise<void> | undefined;
      resolve({
        url: `http://${host}:${port}`,
        close() {
          closed ??= new Promise<void>((done) => {
            server.close(() => done());
            if ("closeAllConnections" in server) server.closeAllConnections();
          });
          return closed;
        },
      });
    });
  });
}

/** Asks for `Authorization: Bearer <token>`; lets everything through when there is no token. */
export function requireToken(token: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    if (token !== undefined && context.req.header("authorization") !== `Bearer ${token}`) {
      return context.text("Unauthorized", 401);
    }
    await next();
  };
}
