/** Takes secrets out of text before anyone reads it: transcripts, observations, messages. */

/** Things that are secret by their shape, wherever they stand. */
const SHAPES: [RegExp, string][] = [
  [/\bsk-[A-Za-z0-9_-]{16,}/g, "sk-***"],
  [/\b(gh[pousr]_|glpat-|xox[abpr]-|hf_|gsk_)[A-Za-z0-9_-]{16,}/g, "$1***"],
  [/\bAKIA[0-9A-Z]{16}\b/g, "AKIA***"],
  [/\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+/g, "eyJ***"],
  [/(\bBearer\s+)[A-Za-z0-9._~+/=-]{12,}/gi, "$1***"],
  [/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?-----END \1-----/g, "-----BEGIN $1-----\n***\n-----END $1-----"],
];

/**
 * A function that replaces each of `secrets`, and whatever has the shape of a key, a token or a private key, by `***`.
 * Secrets shorter than six characters are left alone: they would tear holes into ordinary text.
 */
export function createMasker(secrets: readonly string[]): (text: string) => string {
  const known = [...new Set(secrets)].filter((s) => s.length >= 6).sort((a, b) => b.length - a.length);
  return (text) => {
    let masked = text;
    for (const secret of known) if (masked.includes(secret)) masked = masked.replaceAll(secret, "***");
    for (const [pattern, replacement] of SHAPES) masked = masked.replace(pattern, replacement);
    return masked;
  };
}
