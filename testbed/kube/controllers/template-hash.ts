/**
 * The short hash that names replica sets and controller revisions: FNV-1a over the template's JSON with sorted keys, in
 * the alphabet that Kubernetes uses. Real servers hash Go's dump of the struct, so the digits differ; what matters is
 * that equal templates give equal names.
 */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

export function templateHash(template: unknown, collisionCount = 0): string {
  const seed = collisionCount > 0 ? `${canonical(template)}#${collisionCount}` : canonical(template);
  let hash = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) {
    hash ^= seed.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return safeEncode(String(hash >>> 0));
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
