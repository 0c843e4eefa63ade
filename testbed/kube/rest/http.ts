/** Requests and answers of the API, independent of sockets. */

export interface ApiRequest {
  /** Upper case. */
  method: string;
  /** Decoded path without the query, e.g. `/api/v1/pods`. */
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Record<string, string | undefined>;
  /** Text, or bytes when the content type is Kubernetes' protobuf. */
  body?: string | Uint8Array;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
  /**
   * A body that goes on (watch, follow): called once with functions that send a chunk and end the answer; returns what
   * to call when the client goes away.
   */
  stream?: (send: (chunk: string) => void, end: () => void) => () => void;
  /** Sent as Warning headers. */
  warnings?: string[];
}

/** What an answer may look like, by the request's Accept header. */
export interface Negotiated {
  form: "object" | "table" | "partial" | "partial-list";
  yaml: boolean;
  aggregated: boolean;
  /** The media type parameters asked for, echoed in Content-Type. */
  contentType: string;
}

const JSON_TYPE = "application/json";

/** Picks the first form that this server can write; undefined when there is none. */
export function negotiate(accept: string | undefined): Negotiated | undefined {
  if (accept === undefined || accept.trim() === "") return plain();
  for (const part of accept.split(",")) {
    const [type = "", ...params] = part
      .trim()
      .split(";")
      .map((p) => p.trim());
    const yaml = type === "application/yaml";
    if (type !== JSON_TYPE && !yaml && type !== "*/*" && type !== "application/*") continue;
    const value = (name: string) => params.find((p) => p.startsWith(`${name}=`))?.slice(name.length + 1);
    const as = value("as");
    if (as === undefined) return { ...plain(), yaml, contentType: yaml ? "application/yaml" : JSON_TYPE };
    const contentType = `${JSON_TYPE};${params.filter((p) => !p.startsWith("q=")).join(";")}`;
    if (as === "Table" && value("g") === "meta.k8s.io") return { ...plain(), form: "table", contentType: JSON_TYPE };
    if (as === "PartialObjectMetadata") return { ...plain(), form: "partial", contentType: JSON_TYPE };
    if (as === "PartialObjectMetadataList") return { ...plain(), form: "partial-list", contentType: JSON_TYPE };
    if (as === "APIGroupDiscoveryList" && value("v") === "v2") return { ...plain(), aggregated: true, contentType };
  }
  return undefined;
}

function plain(): Negotiated {
  return { form: "object", yaml: false, aggregated: false, contentType: JSON_TYPE };
}
