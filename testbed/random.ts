/** Seeded randomness. Every part of the testbed forks its own stream, so that adding a draw in one changes no other. */

/** Letters that Kubernetes uses for generated names: no vowels, nothing that reads as another. */
const NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** A deterministic stream (sfc32, seeded by hashing a string). */
export class Random {
  readonly seed: string;
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(seed: string | number) {
    this.seed = String(seed);
    const hash = hasher(this.seed);
    this.#a = hash();
    this.#b = hash();
    this.#c = hash();
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** An independent stream named `label`; the same label gives the same stream. */
  fork(label: string): Random {
    return new Random(`${this.seed}/${label}`);
  }

  /** Uniform integer in [0, 2^32). */
  uint32(): number {
    const t = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + t) | 0;
    return t >>> 0;
  }

  /** Uniform in [0, 1). */
  next(): number {
    return this.uint32() / 2 ** 32;
  }

  /** Uniform integer in [0, n). */
  int(n: number): number {
    return Math.floor(this.next() * n);
  }

  /** One of `items`; throws on an empty list. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("pick from an empty list");
    return items[this.int(items.length)]!;
  }

  /** Normal deviate (Box-Muller), mean 0, deviation 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  /** Poisson deviate with mean `lambda` (Knuth's product below 30, a rounded normal above). */
  poisson(lambda: number): number {
    if (lambda <= 0) return 0;
    if (lambda > 30) return Math.max(0, Math.round(lambda + Math.sqrt(lambda) * this.normal()));
    const limit = Math.exp(-lambda);
    let product = this.next();
    let n = 0;
    while (product > limit) {
      product *= this.next();
      n++;
    }
    return n;
  }

  /** Successes in `n` trials of probability `p` (exact below 50 trials, a clamped normal above). */
  binomial(n: number, p: number): number {
    if (p <= 0 || n <= 0) return 0;
    if (p >= 1) return n;
    if (n > 50) {
      return Math.min(n, Math.max(0, Math.round(n * p + Math.sqrt(n * p * (1 - p)) * this.normal())));
    }
    let hits = 0;
    for (let i = 0; i < n; i++) if (this.next() < p) hits++;
    return hits;
  }

  /** `length` lower-case hexadecimal digits. */
  hex(length: number): string {
    let text = "";
    while (text.length < length) text += this.uint32().toString(16).padStart(8, "0");
    return text.slice(0, length);
  }

  /** `length` letters as Kubernetes appends to generated names. */
  suffix(length: number): string {
    let text = "";
    for (let i = 0; i < length; i++) text += NAME_ALPHABET[this.int(NAME_ALPHABET.length)];
    return text;
  }

  /** A version 4 UUID. */
  uuid(): string {
    const h = this.hex(32);
    const variant = ((Number.parseInt(h[16]!, 16) & 0x3) | 0x8).toString(16);
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant}${h.slice(17, 20)}-${h.slice(20)}`;
  }
}

/** xmur3: turns a string into a sequence of 32-bit seeds. */
function hasher(text: string): () => number {
  let h = 1779033703 ^ text.length;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 3432918353);
    h = (h << 13) | (h >>> 19);
  }
  return () => {
    h = Math.imul(h ^ (h >>> 16), 2246822507);
    h = Math.imul(h ^ (h >>> 13), 3266489909);
    h ^= h >>> 16;
    return h >>> 0;
  };
}
