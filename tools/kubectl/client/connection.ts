/**
 * Where the API server is and how to speak to it, from a kubeconfig. Plain entries (token, password, certificate) are
 * read here; whatever needs more (exec plugins, auth providers, proxies, in-cluster accounts) is left to the
 * Kubernetes client library, which is loaded only then: it costs 80 MB and a third of a second.
 */
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { KubectlError } from "../errors.js";

export interface Connection {
  /** Base URL without a trailing slash. */
  server: string;
  /** Default namespace of the current context. */
  namespace: string;
  /** Headers, agent and the like for a request made now (tokens may be renewed). */
  options(): Promise<https.RequestOptions>;
  close(): void;
}

const LIBRARY_KEYS = ["exec", "auth-provider", "authProvider"];

function material(data: string | undefined, file: string | undefined, folder: string): Buffer | undefined {
  if (data) return Buffer.from(data, "base64");
  return file ? readFileSync(resolve(folder, file)) : undefined;
}

async function throughLibrary(path: string): Promise<Connection> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  config.loadFromFile(path);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new KubectlError(`error: ${path} names no cluster for its current context`);
  const context = config.getContextObject(config.getCurrentContext());
  return {
    server: cluster.server.replace(/\/+$/, ""),
    namespace: context?.namespace ?? "default",
    options: async () => {
      const options: https.RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      return options;
    },
    close: () => {},
  };
}

/**
 * Opens the current context of a kubeconfig file.
 *
 * @throws KubectlError when the file is missing, is no kubeconfig, or has no usable context
 */
export async function connect(path: string): Promise<Connection> {
  let config: any;
  try {
    config = parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new KubectlError(`error: error loading config file "${path}": ${(error as Error).message}`);
  }
  const entry = (list: string, name: string | undefined): any =>
    config?.[list]?.find((item: any) => item?.name === name)?.[list.slice(0, -1)];
  const context = entry("contexts", config?.["current-context"]);
  const cluster = entry("clusters", context?.cluster);
  if (!cluster?.server)
    throw new KubectlError(`error: ${path} names no server for its current context; set current-context in it`);
  const user = entry("users", context?.user) ?? {};
  if (cluster["proxy-url"] || LIBRARY_KEYS.some((key) => user[key] !== undefined)) return throughLibrary(path);

  const folder = dirname(path);
  const server = new URL(cluster.server);
  const secure = server.protocol === "https:";
  const agent = secure
    ? new https.Agent({
        keepAlive: true,
        ca: material(cluster["certificate-authority-data"], cluster["certificate-authority"], folder),
        cert: material(user["client-certificate-data"], user["client-certificate"], folder),
        key: material(user["client-key-data"], user["client-key"], folder),
        ...(cluster["tls-server-name"] ? { servername: cluster["tls-server-name"] } : {}),
        rejectUnauthorized: cluster["insecure-skip-tls-verify"] !== true,
      })
    : new http.Agent({ keepAlive: true });
  return {
    server: cluster.server.replace(/\/+$/, ""),
    namespace: context.namespace || "default",
    options: async () => {
      const token = user.token ?? (user.tokenFile ? readFileSync(resolve(folder, user.tokenFile), "utf8").trim() : "");
      const authorization = token
        ? `Bearer ${token}`
        : user.username
          ? `Basic ${Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64")}`
          : undefined;
      return { agent, headers: authorization ? { Authorization: authorization } : {} };
    },
    close: () => agent.destroy(),
  };
}
