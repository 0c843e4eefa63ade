/** A server with one Secret, and a kubectl that talks to it: for tests that its values come out nowhere. */
import { Kubectl } from "../../../tools/kubectl/index.js";
import { type FakeServer, fakeServer } from "./fake-server.js";

/** The Secret's values: as the API gives them, and decoded. */
export const VALUE = "aHVudGVyMg==";
export const SECRET_TEXT = /aHVudGVyMg|hunter2/;

export const SECRET_PATH = "/api/v1/namespaces/shop/secrets/creds";

export function secretOf(type: string) {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "creds",
      namespace: "shop",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"data":{"password":"${VALUE}"}}` },
    },
    type,
    data: { password: VALUE, token: VALUE },
    stringData: { plain: "hunter2" },
  };
}

export async function secretServer(type: string): Promise<FakeServer> {
  const secret = secretOf(type);
  const { kind: _, apiVersion: __, ...item } = secret;
  const list = { apiVersion: "v1", kind: "SecretList", items: [item] };
  return fakeServer({
    [`GET ${SECRET_PATH}`]: secret,
    [`PATCH ${SECRET_PATH}`]: secret,
    [`PUT ${SECRET_PATH}`]: secret,
    [`DELETE ${SECRET_PATH}`]: secret,
    "POST /api/v1/namespaces/shop/secrets": secret,
    "GET /api/v1/namespaces/shop/secrets": list,
    "GET /api/v1/secrets": list,
    "GET /api/v1/namespaces/shop": { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    "GET /api/v1/namespaces/shop/pods": { apiVersion: "v1", kind: "PodList", items: [] },
  });
}

/** Our kubectl with all rights, on a clock that stands still. */
export function kubectlOf(server: FakeServer): Kubectl {
  return new Kubectl({
    kubeconfig: server.kubeconfig,
    mode: "read-write",
    kubectl: "builtin",
    now: () => 0,
    sleep: async () => {},
  });
}
