/** Which images exist, what program each one runs, and what the container runtime says of those that do not exist. */

import type { Application } from "../apps/application.js";
import type { KubeObject } from "../kube/objects.js";
import type { PullResult } from "../kube/runtime.js";
import type { Behaviour, Program } from "./behaviour.js";

/** Images that people reach for beside an application's own; any tag that looks like a version, and `latest`. */
const WELL_KNOWN = new Set([
  "docker.io/library/busybox",
  "docker.io/library/alpine",
  "docker.io/library/nginx",
  "docker.io/library/httpd",
  "docker.io/library/redis",
  "docker.io/library/postgres",
  "docker.io/library/ubuntu",
  "docker.io/library/debian",
  "docker.io/library/python",
  "docker.io/library/node",
  "docker.io/curlimages/curl",
  "docker.io/nicolaka/netshoot",
  "registry.k8s.io/pause",
  "ghcr.io/valkey-io/valkey",
  "docker.io/valkey/valkey",
]);
/** Base images whose own command is a shell: without a terminal it ends at once. */
const SHELL_IMAGES = /\/(busybox|alpine|ubuntu|debian|python|node)$/;

export interface ImageName {
  /** With registry, as containerd normalizes it: `docker.io/library/busybox`. */
  repository: string;
  tag: string;
  digest?: string;
}

/** Splits an image name as containerd does; undefined when it is no valid reference. */
export function parseImage(image: string): ImageName | undefined {
  const [name, digest] = image.split("@") as [string, string?];
  const slash = name.lastIndexOf("/");
  const colon = name.indexOf(":", slash + 1);
  const path = colon < 0 ? name : name.slice(0, colon);
  const tag = colon < 0 ? "latest" : name.slice(colon + 1);
  if (
    !/^[a-z0-9]+([._/-]+[a-z0-9]+)*(:\d+(\/[a-z0-9._/-]+)?)?$/.test(path) ||
    !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(tag)
  ) {
    return undefined;
  }
  const first = path.split("/")[0]!;
  const hasRegistry = path.includes("/") && (first.includes(".") || first.includes(":") || first === "localhost");
  const repository = hasRegistry ? path : path.includes("/") ? `docker.io/${path}` : `docker.io/library/${path}`;
  return { repository, tag, ...(digest === undefined ? {} : { digest }) };
}

export interface Images {
  pull(image: string): PullResult;
  /** The program that the image runs, of the application's; its name in the behaviour. */
  program(image: string): { name: string; program: Program } | undefined;
  /** Commands that the application's manifests give to containers of this image. */
  commands(image: string): readonly string[][];
  /** True where a container of the image ends at once when it is given no command. */
  endsAtOnce(image: string): boolean;
}

export function createImages(applications: readonly Application[]): Images {
  const known = new Map<string, string[][]>();
  const knownRepositories = new Set<string>();
  const programs: { name: string; program: Program; behaviour: Behaviour }[] = [];
  for (const application of applications) {
    for (const object of application.manifests()) {
      for (const container of containersOf(object)) {
        const parsed = parseImage(container.image);
        if (parsed === undefined) continue;
        const key = `${parsed.repository}:${parsed.tag}`;
        const commands = known.get(key) ?? [];
        if (container.command) commands.push(container.command);
        known.set(key, commands);
        knownRepositories.add(parsed.repository);
      }
    }
    const { behaviour } = application;
    for (const [name, program] of Object.entries(behaviour.programs)) programs.push({ name, program, behaviour });
  }

  function tagged({ repository, tag }: ImageName): { name: string; program: Program } | undefined {
    for (const { name, program, behaviour } of programs) {
      if (program.image.includes("/") || repository === `docker.io/library/${program.image}`) {
        if (parseImage(program.image)?.repository === repository) return { name, program };
        continue;
      }
      const versions = behaviour.images?.[repository];
      if (versions?.some((version) => tag === `${version}-${program.image}`)) return { name, program };
    }
    return undefined;
  }

  function exists(image: ImageName): boolean {
    if (known.has(`${image.repository}:${image.tag}`)) return true;
    if (programs.some(({ behaviour }) => behaviour.images?.[image.repository] !== undefined))
      return tagged(image) !== undefined;
    const familiar = WELL_KNOWN.has(image.repository) || knownRepositories.has(image.repository);
    return familiar && (image.tag === "latest" || /^v?\d+(\.\d+){0,2}(-[a-z0-9.]+)?$/.test(image.tag));
  }

  return {
    pull(image) {
      const name = parseImage(image);
      if (name === undefined) {
        const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`;
        return { ok: false, reason: "InvalidImageName", message };
      }
      if (exists(name))
        return { ok: true, durationMs: 1200 + (hash(image) % 2400), sizeBytes: (20 + (hash(image) % 180)) * 1e6 };
      return {
        ok: false,
        reason: "ErrImagePull",
        message: pullError(name, knownRepositories.has(name.repository) || WELL_KNOWN.has(name.repository)),
      };
    },
    program(image) {
      const name = parseImage(image);
      return name === undefined ? undefined : tagged(name);
    },
    commands(image) {
      const name = parseImage(image);
      return (name && known.get(`${name.repository}:${name.tag}`)) ?? [];
    },
    endsAtOnce(image) {
      const name = parseImage(image);
      return name !== undefined && SHELL_IMAGES.test(name.repository);
    },
  };
}

/** containerd's message, by what registries answer: an unknown tag is not found, an unknown repository is denied. */
function pullError({ repository, tag, digest }: ImageName, repositoryExists: boolean): string {
  const reference = `${repository}${digest === undefined ? `:${tag}` : `@${digest}`}`;
  const failed = `failed to pull and unpack image "${reference}": failed to resolve reference "${reference}"`;
  if (repositoryExists) return `rpc error: code = NotFound desc = ${failed}: ${reference}: not found`;
  if (repository.startsWith("docker.io/")) {
    return `${failed}: pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`;
  }
  const host = repository.split("/")[0]!;
  if (/^(ghcr\.io|quay\.io|gcr\.io|registry\.k8s\.io|icr\.io)$/.test(host)) {
    return `${failed}: failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://${host}/token: 403 Forbidden`;
  }
  return `${failed}: failed to do request: Head "https://${host}/v2/${repository.slice(host.length + 1)}/manifests/${tag}": dial tcp: lookup ${host}: no such host`;
}

function containersOf(object: KubeObject): any[] {
  const spec = object.kind === "Pod" ? object.spec : object.spec?.template?.spec;
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}
