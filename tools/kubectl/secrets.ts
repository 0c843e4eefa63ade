/** Values of Secrets never leave the tool: what prints an object prints a copy with the values masked. */
export const MASK = "<masked>";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

function maskValues(values: Record<string, unknown> | undefined): Record<string, string> | undefined {
  return values && Object.fromEntries(Object.keys(values).map((key) => [key, MASK]));
}

/** The object itself, or a masked copy where it is a Secret, a list with Secrets, or a table of them. */
export function maskSecrets(object: any): any {
  if (object === null || typeof object !== "object") return object;
  if (object.kind === "Secret" && (object.apiVersion === "v1" || object.apiVersion === undefined)) {
    const copy = { ...object };
    if (copy.data) copy.data = maskValues(copy.data);
    if (copy.stringData) copy.stringData = maskValues(copy.stringData);
    if (copy.metadata?.annotations?.[LAST_APPLIED] !== undefined)
      copy.metadata = { ...copy.metadata, annotations: { ...copy.metadata.annotations, [LAST_APPLIED]: MASK } };
    return copy;
  }
  if (object.kind === "SecretList")
    return {
      ...object,
      items: (object.items ?? []).map((item: any) => {
        const masked = maskSecrets({ ...item, kind: "Secret", apiVersion: "v1" });
        if (item.kind === undefined) delete masked.kind;
        if (item.apiVersion === undefined) delete masked.apiVersion;
        return masked;
      }),
    };
  if (Array.isArray(object.items)) return { ...object, items: object.items.map(maskSecrets) };
  if (object.kind === "Table" && Array.isArray(object.rows))
    return { ...object, rows: object.rows.map((row: any) => ({ ...row, object: maskSecrets(row.object) })) };
  return object;
}
