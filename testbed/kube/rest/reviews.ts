/** Resources that answer at once and are not stored: who am I, may I. */
import { badRequest, invalid, invalidValue } from "../errors.js";
import { timestamp } from "../objects.js";
import type { ResourceInfo } from "../resources.js";
import type { ApiServer } from "../server.js";
import type { Attributes, Identity } from "./access.js";

/** The answer to a POST of such a resource; undefined when `info` is an ordinary one. */
export function review(
  server: ApiServer,
  info: ResourceInfo,
  identity: Identity,
  namespace: string | undefined,
  body: any,
): any {
  const base = { kind: info.kind, apiVersion: `${info.group}/${info.version}`, metadata: body?.metadata ?? {} };
  switch (`${info.resource}.${info.group}`) {
    case "selfsubjectreviews.authentication.k8s.io":
      return {
        ...base,
        metadata: { creationTimestamp: timestamp(server.clock.now()) },
        status: { userInfo: userInfo(identity) },
      };
    case "tokenreviews.authentication.k8s.io": {
      const token = body?.spec?.token;
      if (!token) throw badRequest("token is required for TokenReview in authentication");
      try {
        const user = server.access.identify({ authorization: `Bearer ${token}` });
        return { ...base, spec: body.spec, status: { authenticated: true, user: userInfo(user) } };
      } catch {
        return { ...base, spec: body.spec, status: { user: {}, error: "[invalid bearer token]" } };
      }
    }
    case "selfsubjectaccessreviews.authorization.k8s.io":
      return { ...base, spec: body?.spec ?? {}, status: verdict(server, identity, attributesOf(body?.spec)) };
    case "localsubjectaccessreviews.authorization.k8s.io":
    case "subjectaccessreviews.authorization.k8s.io": {
      const subject: Identity = { name: body?.spec?.user ?? "", groups: body?.spec?.groups ?? [], rules: [] };
      return { ...base, spec: body?.spec ?? {}, status: verdict(server, subject, attributesOf(body?.spec, namespace)) };
    }
    case "selfsubjectrulesreviews.authorization.k8s.io": {
      if (!body?.spec?.namespace) throw badRequest("no namespace on request");
      const rules = server.access.rules(identity, body.spec.namespace);
      return {
        ...base,
        spec: {},
        status: {
          resourceRules: rules
            .filter((r) => r.resources)
            .map(({ verbs, apiGroups, resources, resourceNames }) => ({
              verbs,
              apiGroups,
              resources,
              ...(resourceNames ? { resourceNames } : {}),
            })),
          nonResourceRules: rules
            .filter((r) => r.nonResourceURLs)
            .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
          incomplete: false,
        },
      };
    }
    default:
      return undefined;
  }
}

function userInfo(identity: Identity): object {
  return {
    username: identity.name,
    ...(identity.uid ? { uid: identity.uid } : {}),
    groups: identity.groups,
    ...(identity.extra ? { extra: identity.extra } : {}),
  };
}

function attributesOf(spec: any, namespace?: string): Attributes {
  if (spec?.nonResourceAttributes) {
    return { verb: spec.nonResourceAttributes.verb ?? "", path: spec.nonResourceAttributes.path ?? "" };
  }
  const r = spec?.resourceAttributes;
  if (r === undefined) {
    throw invalid("authorization.k8s.io", "", "", [
      invalidValue(
        "spec.resourceAttributes",
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    ]);
  }
  const home = r.namespace ?? namespace;
  return {
    verb: r.verb ?? "",
    group: r.group ?? "",
    resource: r.resource ?? "",
    ...(r.subresource ? { subresource: r.subresource } : {}),
    ...(home ? { namespace: home } : {}),
    ...(r.name ? { name: r.name } : {}),
  };
}

function verdict(server: ApiServer, identity: Identity, attributes: Attributes): object {
  return server.access.allowed(identity, attributes) ? { allowed: true, reason: "RBAC: allowed" } : { allowed: false };
}
