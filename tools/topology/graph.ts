/** A graph of entities (`namespace/Kind/name`) and of how one leads to another. */

/**
 * owns: a controller made it; selects: a Service, policy or autoscaler picks it; calls: seen in traces; configured: an
 * address in its configuration; uses: mounts it or reads its environment from it; routes: a route leads to it; runs on:
 * a node.
 */
export type Relation = "owns" | "selects" | "calls" | "configured" | "uses" | "routes" | "runs on";

export interface Edge {
  from: string;
  to: string;
  relation: Relation;
  /** What tells more: an address, a number of calls, a path. */
  detail?: string;
}

export class Graph {
  /** What is said of an entity beside its name, such as `1/2 ready`. */
  readonly entities = new Map<string, string>();
  /** Remarks on an entity: an address that leads nowhere, a selector that picks nothing. */
  readonly remarks = new Map<string, string[]>();
  readonly #out = new Map<string, Edge[]>();
  readonly #in = new Map<string, Edge[]>();
  readonly #seen = new Set<string>();

  entity(name: string, about = ""): void {
    if (about !== "" || !this.entities.has(name)) this.entities.set(name, about);
  }

  edge(from: string, relation: Relation, to: string, detail?: string): void {
    const key = `${from} ${relation} ${to} ${detail ?? ""}`;
    if (from === to || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.entity(from);
    this.entity(to);
    const edge: Edge = { from, to, relation, ...(detail === undefined ? {} : { detail }) };
    push(this.#out, from, edge);
    push(this.#in, to, edge);
  }

  remark(entity: string, text: string): void {
    const known = this.remarks.get(entity) ?? [];
    if (!known.includes(text)) this.remarks.set(entity, [...known, text]);
  }

  from(entity: string): readonly Edge[] {
    return this.#out.get(entity) ?? [];
  }

  to(entity: string): readonly Edge[] {
    return this.#in.get(entity) ?? [];
  }

  edges(): Edge[] {
    return [...this.#out.values()].flat();
  }

  /** Up to `max` of the shortest ways from one entity to another along the edges, each as its edges. */
  paths(from: string, to: string, max: number): Edge[][] {
    const distance = this.#distances(to);
    const found: Edge[][] = [];
    const walk = (at: string, way: Edge[]): void => {
      if (found.length >= max) return;
      if (at === to) return void found.push(way);
      const left = distance.get(at);
      if (left === undefined) return;
      const next = new Set<string>();
      for (const edge of this.from(at)) {
        // Of several relations between the same two, the first stands for all.
        if (distance.get(edge.to) !== left - 1 || next.has(edge.to)) continue;
        next.add(edge.to);
        walk(edge.to, [...way, edge]);
      }
    };
    if (from !== to) walk(from, []);
    return found;
  }

  /** Number of edges from each entity to `target`. */
  #distances(target: string): Map<string, number> {
    const distance = new Map([[target, 0]]);
    const queue = [target];
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      for (const edge of this.to(at)) {
        if (distance.has(edge.from)) continue;
        distance.set(edge.from, distance.get(at)! + 1);
        queue.push(edge.from);
      }
    }
    return distance;
  }
}

function push(map: Map<string, Edge[]>, key: string, edge: Edge): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [edge]);
  else list.push(edge);
}
