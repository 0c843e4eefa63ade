/** Addresses of services in configuration: environment variables, arguments, values of ConfigMaps. */

export interface Address {
  host: string;
  /** Of the host: `db.shop.svc.cluster.local` names one; undefined where the reader's own is meant. */
  namespace?: string;
  port?: number;
  /** As it is written. */
  text: string;
}

/** Variables whose whole value is the name of a host. */
const HOST_VARIABLE = /(^|[_.-])(HOST(NAME)?|ADDR(ESS)?|ENDPOINT|URL|URI|SERVER|BROKERS?|SERVICE)S?$/i;
const PORT_VARIABLE = /(^|[_.-])PORT$/i;
const NAME = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const HOST = `(${NAME})((?:\\.${NAME})*)`;
/** `scheme://host`, with user, port and path at will; `host:port`, not in the middle of a word. */
const WITH_SCHEME = new RegExp(
  `[a-z][a-z0-9+.-]*://(?:[^\\s/@'"]*@)?${HOST}(?::(\\d{1,5}))?(?=[/?#,;\\s'"}\\])]|$)`,
  "gi",
);
const WITH_PORT = new RegExp(`(?<![\\w.:/@-])${HOST}:(\\d{1,5})(?=[/?#,;\\s'"}\\])]|$)`, "gi");

/**
 * Addresses in one value. A bare name counts only in a variable that says that it holds a host; what looks like an
 * address but is none that a Service could have (an IP address, localhost, a version) does not count.
 *
 * @param name of the variable or key
 * @param port of the sibling variable (`DB_PORT` beside `DB_HOST`), where there is one
 */
export function addressesIn(name: string, value: string, port?: number): Address[] {
  const found: Address[] = [];
  const add = (text: string, host: string, rest: string, digits: string | undefined) => {
    const address = toAddress(text, host, rest, digits === undefined ? undefined : Number(digits));
    if (address !== undefined && !found.some((one) => one.text === address.text)) found.push(address);
  };
  for (const match of value.matchAll(WITH_SCHEME)) add(match[0], match[1]!, match[2]!, match[3]);
  const rest = value.replace(WITH_SCHEME, " ");
  for (const match of rest.matchAll(WITH_PORT)) add(match[0], match[1]!, match[2]!, match[3]);
  if (found.length === 0 && HOST_VARIABLE.test(name)) {
    const match = new RegExp(`^${HOST}$`, "i").exec(value.trim());
    if (match) add(match[0], match[1]!, match[2]!, port === undefined ? undefined : String(port));
  }
  return found;
}

/** The port that a sibling variable gives: `DB_PORT` for `DB_HOST`. */
export function siblingPort(name: string, values: ReadonlyMap<string, string>): number | undefined {
  const stem = name.replace(HOST_VARIABLE, "");
  for (const [other, value] of values) {
    if (PORT_VARIABLE.test(other) && other.replace(PORT_VARIABLE, "") === stem && /^\d+$/.test(value)) {
      return Number(value);
    }
  }
  return undefined;
}

/** `$(NAME)` replaced as the kubelet does it: by variables that stand before. */
export function expandVariables(value: string, earlier: ReadonlyMap<string, string>): string {
  return value.replace(/\$\$|\$\(([A-Za-z_][\w.-]*)\)/g, (whole, name) =>
    name === undefined ? "$" : (earlier.get(name) ?? whole),
  );
}

function toAddress(text: string, first: string, rest: string, port: number | undefined): Address | undefined {
  const host = first.toLowerCase();
  const parts = rest.toLowerCase().split(".").filter(Boolean);
  if (host === "localhost" || /^\d+$/.test(host) || port === 0 || (port ?? 1) > 65_535) return undefined;
  // Of names with dots only those of a cluster's own domain; `smtp.example.com` is elsewhere.
  if (parts.length > 0 && !(parts.length === 1 || parts[1] === "svc")) return undefined;
  if (parts.length === 1 && /^(com|org|net|io|dev|local|json|ya?ml|xml|txt|log|go|py|js)$/.test(parts[0]!)) {
    return undefined;
  }
  return {
    host,
    text: text.trim(),
    ...(parts[0] === undefined ? {} : { namespace: parts[0] }),
    ...(port === undefined ? {} : { port }),
  };
}
