/**
 * What a kind adds to its schema: defaults that no schema states, rules that no schema states, what its columns show.
 * One file a kind; `index.ts` lists them. A kind without rules works by its schema alone.
 */
import type { VirtualClock } from "../../clock.js";
import type { Random } from "../../random.js";
import type { FieldError } from "../errors.js";
import type { GroupResource, KubeObject } from "../objects.js";

/** What rules may look at. */
export interface KindContext {
  clock: VirtualClock;
  random: Random;
  get(resource: GroupResource, namespace: string | undefined, name: string): KubeObject | undefined;
  list(resource: GroupResource, namespace?: string): readonly KubeObject[];
}

export interface Column {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  format?: string;
  /** 0 is always shown, more only with `-o wide`. */
  priority?: number;
}

export type NameRule = "subdomain" | "label" | "service" | "path";

export interface KindRules {
  /** How the kind's names are spelled; DNS subdomains unless said otherwise. */
  name?: NameRule;
  /** Which change bumps metadata.generation: of the spec (or all but metadata and status), or of annotations too. */
  generation?: "spec" | "spec+annotations";
  /** Fills in what is missing, in place. */
  defaults?(object: KubeObject, context: KindContext): void;
  /** Called before a create is checked: sets what the server sets. */
  prepareCreate?(object: KubeObject, context: KindContext): void;
  prepareUpdate?(object: KubeObject, old: KubeObject, context: KindContext): void;
  validate?(object: KubeObject, context: KindContext): FieldError[];
  /** Checks what a write through the status door sets. */
  validateStatus?(object: KubeObject): FieldError[];
  validateUpdate?(object: KubeObject, old: KubeObject): FieldError[];
  /** Hands out what only the server can: addresses, ports. `old` is undefined on a create. */
  allocate?(object: KubeObject, old: KubeObject | undefined, context: KindContext): FieldError[] | undefined;
  /** Field labels that selectors may name besides metadata.name and metadata.namespace. */
  fields?: readonly string[];
  fieldValue?(object: KubeObject, field: string): string;
  columns?: readonly Column[];
  /** Cells of a row, in the order of the columns. */
  row?(object: KubeObject, now: number): unknown[];
  /** A deletion answers with the object, not with a Status. */
  returnsDeleted?: boolean;
  /** A deletion that does not say what becomes of dependents leaves them; with a text: and warns of it. */
  orphansByDefault?: true | string;
  /** Sent with each request for the kind. */
  warning?: string;
  /** What is accepted, but worth a warning to who wrote it. */
  warnings?(object: KubeObject): string[];
  /** PUT must name the version that it replaces. */
  conditionalUpdate?: boolean;
  /** PUT creates what is not there. */
  createOnUpdate?: boolean;
}

export const NAME_COLUMN: Column = { name: "Name", type: "string", format: "name" };
export const AGE_COLUMN: Column = { name: "Age", type: "string" };
export const text = (name: string, priority = 0): Column => ({ name, type: "string", priority });
export const integer = (name: string, priority = 0): Column => ({ name, type: "integer", priority });
