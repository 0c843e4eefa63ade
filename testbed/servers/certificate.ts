/**
 * A self-signed certificate for a server on the loopback interface. kubectl sends a bearer token over TLS only, and Node
 * can make keys but no certificates: so this writes the few DER structures that one needs (RFC 5280).
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

export interface Certificate {
  /** PEM, PKCS #8. */
  key: string;
  /** PEM; it is its own authority. */
  cert: string;
}

const tag = (type: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([type, ...head]), content]);
};
const sequence = (...parts: Buffer[]) => tag(0x30, ...parts);
const set = (...parts: Buffer[]) => tag(0x31, ...parts);
const octets = (content: Buffer) => tag(0x04, content);
const bits = (content: Buffer) => tag(0x03, Buffer.from([0]), content);
const utf8 = (text: string) => tag(0x0c, Buffer.from(text));
const utcTime = (text: string) => tag(0x17, Buffer.from(text));
const yes = tag(0x01, Buffer.from([0xff]));

/** An object identifier: the first two arcs share a byte, the others are written in base 128. */
function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (let arc of rest) {
    const digits = [arc & 0x7f];
    for (arc >>= 7; arc > 0; arc >>= 7) digits.unshift((arc & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tag(0x06, Buffer.from(bytes));
}

const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

/**
 * Makes a certificate for `names` (IPv4 addresses and DNS names). It is valid from 2000 to 2049, so that it holds at any
 * virtual time.
 */
export function selfSigned(names: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const serial = randomBytes(16);
  serial[0] = 0x01;
  const subject = sequence(set(sequence(oid("2.5.4.3"), utf8("itbench"))));
  const alternatives = names.map((name) =>
    /^\d+(\.\d+){3}$/.test(name) ? tag(0x87, Buffer.from(name.split(".").map(Number))) : tag(0x82, Buffer.from(name)),
  );
  const extensions = sequence(
    sequence(oid("2.5.29.19"), yes, octets(sequence(yes))),
    sequence(oid("2.5.29.17"), octets(sequence(...alternatives))),
  );
  const body = sequence(
    tag(0xa0, tag(0x02, Buffer.from([2]))),
    tag(0x02, serial),
    ECDSA_SHA256,
    subject,
    sequence(utcTime("000101000000Z"), utcTime("491231235959Z")),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    tag(0xa3, extensions),
  );
  const der = sequence(body, ECDSA_SHA256, bits(sign("sha256", body, privateKey)));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}
