/** Pod addresses: from the node's range, or one range for all where nodes have none. */
import type { KubeObject } from "../../objects.js";

export class Addresses {
  readonly #next = new Map<string, number>();

  /** The pod's address: its node's own with host networking, else the next free one. */
  allocate(pod: KubeObject, node: KubeObject | undefined): string | undefined {
    if (pod.spec?.hostNetwork) return hostAddress(node);
    const range: string = node?.spec?.podCIDR ?? "10.0.0.0/24";
    const base = range.split("/")[0] ?? "10.0.0.0";
    // A real network keeps its own first address for the bridge.
    const index = (this.#next.get(base) ?? (node?.spec?.podCIDR ? 1 : 0)) + 1;
    this.#next.set(base, index);
    const octets = base.split(".").map(Number);
    const value = (((octets[0] ?? 10) * 256 + (octets[1] ?? 0)) * 256 + (octets[2] ?? 0)) * 256 + skipEdges(index);
    return [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join(".");
  }
}

/** Counts on past `.255` without ever giving out `.0` or `.255`; a range that is used up goes on in the next. */
function skipEdges(index: number): number {
  return Math.floor((index - 1) / 254) * 256 + ((index - 1) % 254) + 1;
}

export function hostAddress(node: KubeObject | undefined): string | undefined {
  return node?.status?.addresses?.find((address: any) => address.type === "InternalIP")?.address;
}
