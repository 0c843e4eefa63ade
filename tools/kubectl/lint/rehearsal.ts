/**
 * A client for rehearsing a command: objects that it names are read, writes are asked of the server as dry runs, and
 * everything that would only cost time (lists, logs, deletions, waiting) ends the rehearsal.
 */
import { type ApiRequest, type CutText, RestClient } from "../client/rest.js";
import { ApiError } from "../errors.js";

/** Nothing was found wrong up to here, and nothing more is to be learnt without running the command. */
export class RehearsalEnd extends Error {
  override readonly name = "RehearsalEnd";
  /** Path of the request that ended it. */
  readonly path: string;
  constructor(path = "") {
    super("the rehearsal ends here");
    this.path = path;
  }
}

/** `/api/v1[/namespaces/NS]/RESOURCE/NAME`: one object, and no part of it. */
const OBJECT = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?[^/]+\/[^/]+$/;
const LIST_IN_NAMESPACE = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/namespaces\/[^/]+\/[^/]+$/;
const LOG = /\/pods\/[^/]+\/log$/;

export class RehearsalClient extends RestClient {
  /** Paths of single objects that are not there. */
  readonly missing: string[] = [];
  private readonly real: RestClient;
  private readonly lists: boolean;

  /** @param lists whether lists are read too: a write needs them for its selector, and logs for their container */
  constructor(real: RestClient, lists: boolean) {
    super(real.options);
    this.real = real;
    this.lists = lists;
  }

  override with(): RestClient {
    return this;
  }

  override namespace(): Promise<string> {
    return this.real.namespace();
  }

  override server(): Promise<string> {
    return this.real.server();
  }

  override async close(): Promise<void> {
    // The connection is the real client's.
  }

  override async send(request: ApiRequest): Promise<CutText> {
    const method = request.method ?? "GET";
    if (method === "GET") {
      if (!OBJECT.test(request.path) && !request.path.startsWith("/openapi")) {
        if (LOG.test(request.path)) throw new RehearsalEnd(request.path);
        // `describe` looks for names that begin alike when there is no object of the name.
        if (!this.lists && this.missing.length === 0) {
          const { labelSelector, fieldSelector } = request.query ?? {};
          if (labelSelector || fieldSelector)
            await this.real.send({ ...request, query: { labelSelector, fieldSelector, limit: "1" } });
          throw new RehearsalEnd(request.path);
        }
      }
      try {
        return await this.real.send(request);
      } catch (error) {
        if (error instanceof ApiError && error.notFound) this.missing.push(request.path);
        throw error;
      }
    }
    // A deletion carries its options in its body, where a query does not count; and an eviction is one.
    const dryRun =
      method === "PATCH" || method === "PUT" || (method === "POST" && LIST_IN_NAMESPACE.test(request.path));
    if (!dryRun) throw new RehearsalEnd(request.path);
    return this.real.send({ ...request, query: { ...request.query, dryRun: "All" } });
  }
}
