/** Label selectors, as the workload controllers, services and affinity terms use them. */

export type Labels = Record<string, string> | undefined;

/** `metav1.LabelSelector` */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** Whether `labels` has every pair of `pairs`; the empty set matches everything. */
export function hasLabels(labels: Labels, pairs: Record<string, string>): boolean {
  for (const key in pairs) if (labels?.[key] !== pairs[key]) return false;
  return true;
}

/** Whether `labels` fulfils the selector; undefined selects nothing, the empty selector everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined || selector === null) return false;
  if (selector.matchLabels && !hasLabels(labels, selector.matchLabels)) return false;
  return (selector.matchExpressions ?? []).every((requirement) => fulfils(requirement, labels));
}

export function isEmptySelector(selector: LabelSelector | undefined): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
}

/** One requirement; `Gt` and `Lt` exist in node selectors only. */
export function fulfils(requirement: { key: string; operator: string; values?: string[] }, labels: Labels): boolean {
  const value = labels?.[requirement.key];
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}
