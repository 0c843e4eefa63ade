/** Reads the addresses that clients are configured with. */
import type { AddressSource } from "./behaviour.js";
import type { Destination } from "./network.js";

export interface Address extends Destination {
  user?: string;
  password?: string;
  database?: string;
  /** `host:port`, for messages. */
  name: string;
}

/** The address that `source` names in these variables, or the reason why there is none. */
export function readAddress(
  source: AddressSource,
  variables: ReadonlyMap<string, string>,
): Address | { problem: string } {
  if ("host" in source) return { host: source.host, port: source.port, name: `${source.host}:${source.port}` };
  if ("hostEnv" in source) {
    const host = variables.get(source.hostEnv);
    const port = variables.get(source.portEnv);
    if (!host) return { problem: `${source.hostEnv} is not set` };
    if (!port) return { problem: `${source.portEnv} is not set` };
    return parseAddress(`${host}:${port}`, undefined);
  }
  const text = variables.get(source.env);
  if (!text) return { problem: `${source.env} is not set` };
  return parseAddress(text, source.port);
}

/** Parses `host:port`, `scheme://user:password@host:port/database`, and `Host=...;Port=...;Username=...`. */
export function parseAddress(text: string, defaultPort: number | undefined): Address | { problem: string } {
  const trimmed = text.trim();
  if (/^[A-Za-z ]+=[^;]*(;|$)/.test(trimmed) && !trimmed.includes("://")) return connectionString(trimmed, defaultPort);
  const parts =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:([^:@/]*)(?::([^@/]*))?@)?([^:/?#,]*)(?::([^/?#,]*))?(?:\/([^?#]*))?/i.exec(
      trimmed,
    );
  const scheme = parts?.[1]?.toLowerCase();
  const host = parts?.[4] ?? "";
  if (host === "") return { problem: `"${text}" names no host` };
  const port = parts?.[5];
  const number = port === undefined || port === "" ? (defaultPort ?? schemePort(scheme)) : Number(port);
  if (number === undefined) return { problem: `address ${text}: missing port in address` };
  if (!Number.isInteger(number) || number < 0 || number > 65535) return { problem: `address ${text}: invalid port` };
  return {
    host,
    port: number,
    name: `${host}:${number}`,
    ...(parts?.[2] ? { user: decoded(parts[2]) } : {}),
    ...(parts?.[3] ? { password: decoded(parts[3]) } : {}),
    ...(parts?.[6] ? { database: parts[6] } : {}),
  };
}

/** Percent-decoded, or as it stands where it is no such encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function schemePort(scheme: string | undefined): number | undefined {
  return scheme === "http" ? 80 : scheme === "https" ? 443 : undefined;
}

function connectionString(text: string, defaultPort: number | undefined): Address | { problem: string } {
  const fields = new Map<string, string>();
  for (const part of text.split(";")) {
    const at = part.indexOf("=");
    if (at > 0) fields.set(part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim());
  }
  const host = fields.get("host") ?? fields.get("server");
  if (!host) return { problem: `connection string names no Host` };
  const port = Number(fields.get("port") ?? defaultPort);
  if (!Number.isInteger(port)) return { problem: `connection string has an invalid Port` };
  const user = fields.get("username") ?? fields.get("user id");
  const password = fields.get("password");
  const database = fields.get("database");
  return {
    host,
    port,
    name: `${host}:${port}`,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { database }),
  };
}
