/** `ip("...")` operands: one address, a range `a-b`, or a CIDR; IPv4 and IPv6. */
import { BlockList, isIP } from "node:net";

const CANDIDATE = /(?:\d{1,3}\.){3}\d{1,3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}/g;

/** Addresses that stand in a text. */
export function findIps(text: string): string[] {
  return (text.match(CANDIDATE) ?? []).filter((candidate) => isIP(candidate) !== 0);
}

/** @throws Error when the text is none of the three forms */
export function compileIpRange(range: string): (address: string) => boolean {
  const list = new BlockList();
  const dash = range.indexOf("-");
  const slash = range.indexOf("/");
  const first = range.slice(0, dash !== -1 ? dash : slash !== -1 ? slash : undefined).trim();
  if (isIP(first) === 0) throw new Error(`ip: ParseAddr("${range}"): unable to parse IP`);
  const family = isIP(first) === 4 ? "ipv4" : "ipv6";
  if (dash !== -1) list.addRange(first, range.slice(dash + 1).trim(), family);
  else if (slash !== -1) list.addSubnet(first, Number(range.slice(slash + 1)), family);
  else list.addAddress(first, family);
  return (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
