/** Short forms for the calls that the demo's programs make. */
import type { AddressSource, Call } from "../../../traffic/behaviour.js";

type Options = Partial<Omit<Call, "to" | "protocol" | "operation">>;

/** Variables that the caller keeps addresses of programs in, where they are not `<NAME>_ADDR`. */
const ADDRESSES: Readonly<Record<string, AddressSource>> = {
  agent: { hostEnv: "AGENT_ENDPOINT", portEnv: "AGENT_PORT" },
  mcp: { hostEnv: "MCP_ENDPOINT", portEnv: "MCP_PORT" },
};

/** Where the caller looks for a program. */
export function addressOf(program: string): AddressSource {
  return ADDRESSES[program] ?? { env: `${program.replaceAll("-", "_").toUpperCase()}_ADDR` };
}

/** A gRPC call; `method` is `Service/Method` without the package. `prefix` is what the language's library puts before the span's name. */
export function grpc(to: string, method: string, prefix = "oteldemo.", options: Options = {}): Call {
  return { to, address: addressOf(to), protocol: "grpc", operation: method, span: `${prefix}${method}`, ...options };
}

/** An HTTP request; instrumentations name the client's span after the method alone. */
export function http(to: string, operation: string, options: Options = {}): Call {
  return { to, address: addressOf(to), protocol: "http", operation, span: operation.split(" ")[0]!, ...options };
}

/** Bytes. */
export const MiB = 1024 * 1024;
