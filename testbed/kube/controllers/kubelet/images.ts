/** Images as a container runtime names them, and which of them a node holds. */
import { createHash } from "node:crypto";

/** `nginx` -> `docker.io/library/nginx:latest`, as containerd reports it. */
export function fullImageName(image: string): string {
  let name = image;
  const slash = name.indexOf("/");
  const registry = slash > 0 ? name.slice(0, slash) : "";
  const qualified = registry.includes(".") || registry.includes(":") || registry === "localhost";
  if (!qualified) name = slash > 0 ? `docker.io/${name}` : `docker.io/library/${name}`;
  if (!name.includes("@") && !/:[^/]+$/.test(name)) name += ":latest";
  return name;
}

/** `repository@sha256:...`; the digest is made from the name, so that equal images look equal. */
export function imageId(image: string): string {
  const name = fullImageName(image);
  if (name.includes("@")) return name;
  const digest = createHash("sha256").update(name).digest("hex");
  return `${name.replace(/:[^/:]+$/, "")}@sha256:${digest}`;
}

/** Bytes, made from the name: between 20 and 120 million. */
export function assumedSize(image: string): number {
  return 20_000_000 + (createHash("sha256").update(`size of ${image}`).digest().readUInt32BE(0) % 100_000_000);
}
