/** Which objects the label and field selectors of a query pick. */
import { badRequest } from "../errors.js";
import type { KubeObject } from "../objects.js";
import type { ResourceInfo } from "../resources.js";
import { type FieldTerm, parseFieldSelector, parseSelector } from "../selectors.js";

const METADATA_FIELDS: Record<string, (o: KubeObject) => string> = {
  "metadata.name": (o) => o.metadata.name,
  "metadata.namespace": (o) => o.metadata.namespace ?? "",
};

/** Which objects the query's selectors pick. @throws StatusError 400 */
export function matcher(info: ResourceInfo, query: URLSearchParams): (object: KubeObject) => boolean {
  const labelText = query.get("labelSelector") ?? "";
  const fieldText = query.get("fieldSelector") ?? "";
  const tests: ((object: KubeObject) => boolean)[] = [];
  if (labelText !== "") {
    const match = parseSelector(labelText);
    tests.push((object) => match(object.metadata.labels ?? {}));
  }
  if (fieldText !== "") for (const term of parseFieldSelector(fieldText)) tests.push(fieldTest(info, term));
  if (tests.length === 0) return () => true;
  return (object) => tests.every((test) => test(object));
}

function fieldTest(info: ResourceInfo, term: FieldTerm): (object: KubeObject) => boolean {
  const read = METADATA_FIELDS[term.field];
  if (read && (term.field !== "metadata.namespace" || info.namespaced)) {
    return (object) => (read(object) === term.value) !== term.negative;
  }
  const selectable: string[] | undefined = info.definedVersion?.selectableFields?.map((f: any) =>
    f.jsonPath.replace(/^\./, ""),
  );
  if (selectable?.includes(term.field)) {
    const path = term.field.split(".");
    return (object) => {
      let here: any = object;
      for (const part of path) here = here?.[part];
      return (String(here ?? "") === term.value) !== term.negative;
    };
  }
  if (!info.rules.fields?.includes(term.field)) {
    throw badRequest(
      info.rules.fields || info.definition
        ? `field label not supported: ${term.field}`
        : `"${term.field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
  return (object) => (info.rules.fieldValue!(object, term.field) === term.value) !== term.negative;
}
