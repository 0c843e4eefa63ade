import { z } from "zod";
import type { KubeObject } from "../kube/objects.js";
import type { FaultMechanism } from "./mechanism.js";
import { entityOf, find, missing, resourceOf } from "./target.js";

const args = z.object({
  kubernetesObject: z.object({
    apiVersion: z.enum(["v1"]),
    kind: z.enum(["ConfigMap"]),
    metadata: z.object({ name: z.enum(["flagd-config"]), namespace: z.string().min(1) }),
  }),
  flag: z.object({ name: z.string(), state: z.string() }),
});
type Args = z.output<typeof args>;

const FILE = "demo.flagd.json";

function flagsOf(configMap: KubeObject | undefined): { file: any; flags: Record<string, any> } | undefined {
  try {
    const file = JSON.parse(configMap?.data?.[FILE] ?? "");
    return typeof file?.flags === "object" && file.flags !== null ? { file, flags: file.flags } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a variant of one of the demo's feature flags the default one. flagd reads its file when it starts: the scenario
 * restarts it after the injection.
 */
export const featureFlag: FaultMechanism<Args> = {
  id: "opentelemetry-demo-feature-flag",
  description: "A feature flag of the OpenTelemetry Demo is set that makes a service fail",
  args,
  refuse({ kube }, { kubernetesObject: target, flag }) {
    const absent = missing(kube, target);
    if (absent !== undefined) return absent;
    const flags = flagsOf(find(kube, target))?.flags;
    if (flags === undefined) return `ConfigMap "${target.metadata.name}" holds no flags in "${FILE}"`;
    const found = flags[flag.name];
    if (found === undefined) return `no flag "${flag.name}"; there are: ${Object.keys(flags).join(", ")}`;
    const variants = Object.keys(found.variants ?? {});
    return variants.includes(flag.state)
      ? undefined
      : `flag "${flag.name}" has no variant "${flag.state}"; it has: ${variants.join(", ")}`;
  },
  inject({ kube }, { kubernetesObject: target, flag }) {
    const { namespace, name } = target.metadata;
    const before = find(kube, target)!.data[FILE] as string;
    const { file, flags } = flagsOf(find(kube, target))!;
    flags[flag.name] = { ...flags[flag.name], state: "ENABLED", defaultVariant: flag.state };
    const write = (text: string) =>
      kube.modify(
        resourceOf(target),
        namespace,
        name,
        (draft) => {
          draft.data[FILE] = text;
        },
        { manager: "kubectl-edit" },
      );
    write(`${JSON.stringify(file, undefined, 2)}\n`);
    return { entities: [entityOf(target)], undo: () => void write(before) };
  },
  holds({ kube }, { kubernetesObject: target, flag }) {
    const found = flagsOf(find(kube, target))?.flags[flag.name];
    return found?.state === "ENABLED" && found.defaultVariant === flag.state;
  },
};
