/** managedFields: which fields a manager wrote last, as paths, and what they hold now. */

export interface OwnedField {
  /** `spec.template.spec.containers[cart].env[ADDR].value` */
  path: string;
  /** What stands there now; undefined where nothing does. */
  value: unknown;
}

/** The leaves of a FieldsV1 tree; what lies below a field that a manager owns as a whole is one leaf. */
export function ownedFields(object: unknown, fields: unknown, path = ""): OwnedField[] {
  const keys = Object.entries(fields ?? {}).filter(([key]) => key !== ".");
  if (keys.length === 0) return path === "" ? [] : [{ path, value: object }];
  return keys.flatMap(([key, below]) => ownedFields(child(object, key), below, path + step(key, path)));
}

function step(key: string, before: string): string {
  const rest = key.slice(2);
  if (key.startsWith("f:")) return before === "" ? rest : /[.[\]/]/.test(rest) ? `[${rest}]` : `.${rest}`;
  const wanted = parsed(rest);
  if (key.startsWith("k:") && typeof wanted === "object" && wanted !== null) {
    return `[${Object.values(wanted).join(",")}]`;
  }
  return `[${rest}]`;
}

function child(object: any, key: string): unknown {
  if (object === undefined || object === null) return undefined;
  const rest = key.slice(2);
  if (key.startsWith("f:")) return object[rest];
  if (!Array.isArray(object)) return undefined;
  if (key.startsWith("i:")) return object[Number(rest)];
  const wanted = parsed(rest);
  if (key.startsWith("v:")) return object.find((item) => JSON.stringify(item) === JSON.stringify(wanted));
  const keys = Object.entries((wanted ?? {}) as Record<string, unknown>);
  // A key that the object leaves to its default is in the manager's list all the same.
  return object.find((item) => keys.every(([name, value]) => item?.[name] === value || item?.[name] === undefined));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
