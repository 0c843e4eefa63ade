/** What a server warns of although it accepts it. */

const DEPRECATED_LABELS: Record<string, string> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

/** Of a pod spec at `field`, which ends with `spec`. */
export function podWarnings(spec: any, field: string): string[] {
  const warnings: string[] = [];
  for (const key of Object.keys(spec?.nodeSelector ?? {})) {
    if (DEPRECATED_LABELS[key]) warnings.push(`${field}.nodeSelector[${key}]: ${DEPRECATED_LABELS[key]}`);
  }
  const lists = [
    ["initContainers", spec?.initContainers ?? []],
    ["containers", spec?.containers ?? []],
  ] as const;
  for (const [list, containers] of lists) {
    containers.forEach((container: any, i: number) => {
      const here = `${field}.${list}[${i}]`;
      const seen = new Set<string>();
      (container.env ?? []).forEach(({ name, value }: any, j: number) => {
        // A value that refers to the earlier one builds on it.
        if (seen.has(name) && !String(value ?? "").includes(`$(${name})`)) {
          warnings.push(
            `${here}.env[${j}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
          );
        }
        seen.add(name);
      });
    });
  }
  warnings.push(...portWarnings(spec, field));
  if (spec?.terminationGracePeriodSeconds < 0) {
    warnings.push(
      `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  }
  return warnings;
}

function portWarnings(spec: any, field: string): string[] {
  const warnings: string[] = [];
  const numbers = new Map<string, string>();
  const names = new Map<string, string>();
  (spec?.containers ?? []).forEach((container: any, i: number) => {
    (container.ports ?? []).forEach((port: any, j: number) => {
      const here = `${field}.containers[${i}].ports[${j}]`;
      const number = `${port.containerPort}/${port.protocol}/${port.hostPort ?? 0}`;
      const before = numbers.get(number);
      if (before) warnings.push(`${here}: duplicate port definition with ${before}`);
      else numbers.set(number, here);
      if (!port.name) return;
      const named = names.get(port.name);
      if (named) {
        warnings.push(
          `${here}: duplicate port name ${JSON.stringify(port.name)} with ${named}, services and probes that select ports by name will use ${named}`,
        );
      } else names.set(port.name, here);
    });
  });
  return warnings;
}

/** Of a workload's template. */
export const templateWarnings = (object: any): string[] =>
  podWarnings(object.spec?.template?.spec, "spec.template.spec");

export function serviceWarnings({ spec }: any): string[] {
  const warnings: string[] = [];
  if (spec.clusterIP === "None") {
    if (spec.loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services");
    if ((spec.externalIPs ?? []).length > 0) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  if (spec.type === "ExternalName" && (spec.externalIPs ?? []).length > 0) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (spec.type !== "ExternalName" && spec.externalName) {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  return warnings;
}

export function ingressWarnings({ metadata, spec }: any): string[] {
  return metadata.annotations?.["kubernetes.io/ingress.class"] !== undefined && spec?.ingressClassName === undefined
    ? ["annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"]
    : [];
}
