/** Which handler a verb on a resource or on one of its subresources goes to. */
import { methodNotAllowed, StatusError } from "../errors.js";
import { updateObject } from "../writes.js";
import { bodyObject } from "./bodies.js";
import type { ApiResponse } from "./http.js";
import { podLog } from "./logs.js";
import { bind, bodyOf, evict, refused, tokenFor } from "./pods.js";
import { existing, list, show, watchList } from "./reading.js";
import { answer, type Call } from "./router.js";
import { getScale, putScale } from "./scale.js";
import { matcher } from "./selection.js";
import { scaleTable } from "./table.js";
import { isUsage, usageOf } from "./usage.js";
import { create, managerOf, patch, put, remove, removeAll, strictBody, update, writeRequest } from "./writing.js";

export function handleResource(call: Call, verb: string): ApiResponse {
  const { info, name, subresource } = call.target;
  if (subresource !== undefined) return handleSubresource(call, verb, subresource);
  if (isUsage(info)) return usage(call, verb);
  if (!info.verbs.includes(verb) || misplaced(call, verb)) throw methodNotAllowed();
  switch (verb) {
    case "get":
      return show(call, existing(call));
    case "list":
      return list(call);
    case "watch":
      return watchList(call);
    case "create":
      return create(call);
    case "update":
      return put(call);
    case "patch":
      return patch(call);
    case "delete":
      return remove(call);
    case "deletecollection":
      return removeAll(call);
    default:
      throw new StatusError(405, "MethodNotAllowed", `unsupported verb ${verb} on ${name}`);
  }
}

/** Verbs on one object need its name, creation must not have one, and both need the namespace. */
function misplaced({ target }: Call, verb: string): boolean {
  const named = target.name !== undefined;
  const homeless = target.info.namespaced && target.namespace === undefined;
  if (verb === "create" || verb === "deletecollection") return named || homeless;
  return (verb === "update" || verb === "patch") && !named;
}

function usage(call: Call, verb: string): ApiResponse {
  const { info, namespace, name } = call.target;
  if (verb !== "get" && verb !== "list") throw methodNotAllowed();
  const matches = matcher(call.server.registry.stored(info.resource)!, call.request.query);
  return answer(call, usageOf(call.server, info, namespace, name, matches));
}

function handleSubresource(call: Call, verb: string, subresource: string): ApiResponse {
  const { info, name } = call.target;
  const known = info.subresources.get(subresource)!;
  const method = verb === "watch" || verb === "list" ? "get" : verb;
  if (!known.verbs.includes(method)) throw methodNotAllowed();
  switch (subresource) {
    case "status":
    case "ephemeralcontainers":
    case "resize":
    case "approval":
      if (method === "get") return show(call, existing(call));
      return method === "update" ? show(call, update(call)) : patch(call);
    case "finalize": {
      const body = bodyObject(call, writeRequest(call, strictBody(info)));
      const old = existing(call);
      const next = { ...old, spec: { ...old.spec, finalizers: body.spec?.finalizers ?? [] } };
      return show(
        call,
        updateObject(call.server, info, old, next, {
          manager: managerOf(call),
          internal: true,
          subresource: "finalize",
        }),
      );
    }
    case "scale":
      if (method !== "get") return answer(call, putScale(call, method));
      return call.negotiated.form === "table"
        ? answer(call, scaleTable(getScale(call), call.server.clock.now()))
        : answer(call, getScale(call));
    case "log":
      return podLog(call.server, existing(call), call.request.query);
    case "binding":
      return bind(call, name!, bodyOf(call));
    case "eviction":
      return evict(call);
    case "token":
      return answer(call, tokenFor(call), 201);
    default:
      throw refused(call, subresource);
  }
}
