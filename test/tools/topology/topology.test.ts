import { afterEach, describe, expect, it } from "vitest";
import { createTopology } from "../../../tools/topology/index.js";
import { deployment, type FakeCluster, fakeCluster, meta, service } from "../../support/fake-cluster.js";
import { json, serve, type TestServer } from "../../support/http.js";
import { toolContext } from "../../support/tool-context.js";

let cluster: FakeCluster | undefined;
let jaeger: TestServer | undefined;
afterEach(async () => {
  await Promise.all([cluster?.close(), jaeger?.close()]);
  cluster = jaeger = undefined;
});

const env = (values: Record<string, string>) => ({
  env: Object.entries(values).map(([name, value]) => ({ name, value })),
});

/** frontend -> cart -> db, configured; frontend -> cart traced, under the name that cart gives itself. */
const SHOP = [
  deployment("frontend", env({ CART_ADDR: "cart:8080" })),
  service("frontend", 80),
  deployment("cart-v1", env({ OTEL_SERVICE_NAME: "cart", DB_URL: "postgres://u:hunter2@db:5432/x" }), {
    pod: { volumes: [{ configMap: { name: "cart-settings" } }], nodeName: "n1" },
  }),
  service("cart", 8080, { selector: { app: "cart-v1" } }),
  { kind: "ConfigMap", metadata: meta("cart-settings"), data: { "app.properties": "kafka=kafka:9092\nlevel=info" } },
  deployment("db", { ports: [{ containerPort: 5432 }] }),
  service("db", 5432),
  deployment("kafka"),
  service("kafka", 9092),
];

async function topology(
  input: Record<string, unknown>,
  objects: readonly any[] = SHOP,
  options: { calls?: unknown[]; forbidden?: string[]; traces?: boolean } = {},
): Promise<string> {
  cluster = await fakeCluster(objects, options.forbidden);
  const calls = options.calls ?? [{ parent: "frontend", child: "cart", callCount: 12 }];
  jaeger = await serve((_request, response) => json(response, { data: calls }));
  const context = toolContext(jaeger.url);
  context.endpoints.kubeconfig = cluster.kubeconfig;
  return createTopology(context, { traces: options.traces ?? true }).invoke(input as any) as Promise<string>;
}

describe("topology", () => {
  it("shows what is around an object", async () => {
    const text = await topology({ entity: "cart-v1" });
    expect(text.split("\n")).toEqual([
      "shop/Deployment/cart-v1 (1/1 ready)",
      "  selected by: Service/cart",
      "  is configured to reach: Service/db (DB_URL=postgres://<masked>@db:5432/x), Service/kafka (cart-settings app.properties: kafka:9092)",
      "  uses: ConfigMap/cart-settings (mounts)",
    ]);
    expect(text).not.toContain("hunter2");
  });

  it.each(["cart", "svc/cart", "Service/cart", "shop/Service/cart", "services/cart"])(
    "understands %s",
    async (entity) => {
      expect(await topology({ entity })).toContain("shop/Service/cart (port 8080)\n  called by: Deployment/frontend");
    },
  );

  it("follows callers through Services", async () => {
    const text = await topology({ entity: "db", direction: "callers" });
    expect(text.split("\n").slice(0, 3)).toEqual([
      "shop/Deployment/db (1/1 ready)",
      "  Deployment/cart-v1 [configured: DB_URL=postgres://<masked>@db:5432/x]",
      "    Deployment/frontend [configured: CART_ADDR=cart:8080, calls: 12 calls]",
    ]);
  });

  it("finds the way, also the other way round", async () => {
    expect(await topology({ entity: "frontend", to: "db" })).toContain(
      "--configured (CART_ADDR=cart:8080)--> Service/cart --selects--> Deployment/cart-v1 --configured",
    );
    await Promise.all([cluster?.close(), jaeger?.close()]);
    expect(await topology({ entity: "Deployment/db", to: "Deployment/frontend" })).toMatch(
      /^shop\/Deployment\/db does not depend on shop\/Deployment\/frontend; it is the other way round:/,
    );
  });

  it("says where two objects lead when there is no way", async () => {
    expect(await topology({ entity: "kafka", to: "Deployment/db" })).toMatch(
      /^no way from shop\/Deployment\/kafka to shop\/Deployment\/db, nor back/,
    );
  });

  it("gives an overview", async () => {
    expect(await topology({})).toContain("shop/Deployment/frontend -> Service/cart (configured, 12 calls)\n".trimEnd());
  });

  const wrong = (name: string, container: object, more: object = {}) => [
    deployment(name, container as any, more as any),
    service("cart", 8080),
    deployment("cart"),
  ];
  it.each<[string, any[], string, RegExp | undefined]>([
    [
      "an address of no Service",
      wrong("a", env({ X_ADDR: "carts:8080" })),
      "a",
      /! X_ADDR=carts:8080: there is no Service shop\/carts$/m,
    ],
    [
      "a port that its Service lacks",
      wrong("a", env({ X_ADDR: "cart:9999" })),
      "a",
      /! X_ADDR=cart:9999: Service cart has no port 9999; its ports: 8080$/m,
    ],
    [
      "a Service in another namespace, of which nothing is known",
      wrong("a", env({ X_ADDR: "cart.other:1" })),
      "a",
      undefined,
    ],
    ["a script full of colons", wrong("a", { args: ["sh", "-c", "echo level:12 carts:8080"] }), "a", undefined],
    [
      "a ConfigMap that is missing",
      wrong("a", {}, { pod: { volumes: [{ configMap: { name: "gone" } }] } }),
      "a",
      /! mounts ConfigMap gone, which does not exist/,
    ],
    [
      "an optional one",
      wrong("a", {}, { pod: { volumes: [{ configMap: { name: "gone", optional: true } }] } }),
      "a",
      undefined,
    ],
    [
      "a selector that picks nothing",
      [service("a", 1, { selector: { app: "b" } }), deployment("c")],
      "a",
      /! its selector app=b fits no workload's pods/,
    ],
    [
      "a target port that no container declares",
      [service("a", 1, { ports: [{ port: 80, targetPort: 81 }] }), deployment("a", { ports: [{ containerPort: 80 }] })],
      "Service/a",
      /! target port 81 is not among those that Deployment a declares: 80/,
    ],
    [
      "a named target port",
      [
        service("a", 1, { ports: [{ port: 80, targetPort: "web" }] }),
        deployment("a", { ports: [{ name: "web", containerPort: 80 }] }),
      ],
      "Service/a",
      undefined,
    ],
    [
      "an Ingress to nowhere",
      [{ kind: "Ingress", metadata: meta("i"), spec: { defaultBackend: { service: { name: "x" } } } }, deployment("a")],
      "i",
      /! routes to x, of which there is no Service/,
    ],
    [
      "an autoscaler of nothing",
      [
        {
          kind: "HorizontalPodAutoscaler",
          metadata: meta("h"),
          spec: { scaleTargetRef: { kind: "Deployment", name: "x" }, maxReplicas: 3 },
        },
        deployment("a"),
      ],
      "h",
      /! scales Deployment x, which does not exist/,
    ],
  ])("remarks on %s or rightly not", async (_name, objects, entity, remark) => {
    const text = await topology({ entity }, objects, { calls: [] });
    if (remark === undefined) expect(text).not.toContain("!");
    else expect(text).toMatch(remark);
  });

  it("knows nothing of what it may not read, and does not call it missing", async () => {
    const objects = [
      deployment("a", { ...env({ X_ADDR: "cart:1" }), envFrom: [{ secretRef: { name: "s" } }] }),
      deployment("b"),
    ];
    const text = await topology({ entity: "a" }, objects, { forbidden: ["secrets", "services"], calls: [] });
    expect(text).not.toContain("!");
    expect(text).toContain("[services could not be read: Forbidden]");
    expect(text).not.toContain("[secrets");
  });

  it("places traced services by name, label or environment, and says which it cannot place", async () => {
    const calls = [
      { parent: "frontend.shop", child: "cart", callCount: 1 },
      { parent: "frontend.shop", child: "mainframe", callCount: 2 },
    ];
    const text = await topology({ entity: "frontend" }, SHOP, { calls });
    expect(text).toContain("  calls: Service/cart (1 call), mainframe (traced) (2 calls)");
    expect(text).toContain("[traced, but no object here: mainframe]");
  });

  it("reads no traces where they are off, and does without where Jaeger does not answer", async () => {
    const off = await topology({ entity: "frontend" }, SHOP, { traces: false });
    expect(off).not.toContain("calls:");
    expect(jaeger!.requests).toEqual([]);
    await Promise.all([cluster?.close(), jaeger?.close()]);
    cluster = await fakeCluster(SHOP);
    jaeger = await serve((_request, response) => json(response, { errors: [{ msg: "storage is down" }] }, 500));
    const context = toolContext(jaeger.url);
    context.endpoints.kubeconfig = cluster.kubeconfig;
    expect(await createTopology(context, { traces: true }).invoke({ entity: "frontend" })).toContain(
      "[without traced calls: Jaeger: storage is down]",
    );
  });

  it.each<[Record<string, unknown>, string]>([
    [{ entity: "carts" }, 'there is no object "carts"; did you mean cart'],
    [{ entity: "zzzzzzz" }, "there are: "],
    [{ to: "cart" }, 'give "entity" too'],
    [{ namespace: "empty" }, "there are no objects in empty; the scenario's namespaces: shop"],
  ])("%o: %s", async (input, says) => {
    await expect(topology(input)).rejects.toThrow(says);
  });

  it("says that the cluster does not answer, without a stack", async () => {
    const context = toolContext("http://127.0.0.1:9");
    await expect(createTopology(context, { traces: true }).invoke({})).rejects.toThrow(/error loading config file/);
  });

  it("asks for nothing but lists", async () => {
    await topology({ entity: "cart" });
    expect(new Set(cluster!.requests.map((one) => one.method))).toEqual(new Set(["GET"]));
    const secrets = cluster!.requests.filter((one) => one.url.pathname.endsWith("/secrets"));
    expect(secrets.map((one) => one.headers.accept)).toEqual([expect.stringContaining("PartialObjectMetadataList")]);
  });
});
