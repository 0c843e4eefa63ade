/**
 * The short hashes that name replica sets and controller revisions, as a real server computes them: FNV-1a over Go's
 * dump of a pod template, or over a revision's JSON, in the alphabet that Kubernetes uses for names.
 */
import { dumpTemplate } from "./template-dump.js";

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a, 32 bits, of bytes that follow what `state` has seen. */
function fnv(bytes: Uint8Array, state = OFFSET): number {
  let hash = state;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}

/** What a collision adds: the count in eight bytes. */
function withCollisions(hash: number, count: number): number {
  if (count === 0) return hash;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, count, true);
  return fnv(bytes, hash);
}

const known = new WeakMap<object, number>();

/** Of a pod template, which the store never changes in place. */
export function templateHash(template: object, collisionCount = 0): string {
  let hash = known.get(template);
  if (hash === undefined) {
    hash = fnv(Buffer.from(dumpTemplate(template)));
    known.set(template, hash);
  }
  return safeEncode(String(withCollisions(hash, collisionCount)));
}

/** Of a controller revision's data. */
export function dataHash(data: unknown, collisionCount = 0): string {
  return safeEncode(String(withCollisions(fnv(Buffer.from(canonical(data))), collisionCount)));
}

/** Maps each character of a number's digits to the letters without vowels, as `rand.SafeEncodeString` does. */
function safeEncode(text: string): string {
  let encoded = "";
  for (const character of text) encoded += ALPHABET[character.charCodeAt(0) % ALPHABET.length];
  return encoded;
}

/** JSON with sorted keys and without undefined members. */
export function canonical(value: any): string {
  if (value === undefined) return "null";
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(",")}}`;
}
