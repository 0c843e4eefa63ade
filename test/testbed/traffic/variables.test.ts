import { expect, it } from "vitest";
import { containerFile, containerVariables, writablePlace } from "../../../testbed/traffic/variables.js";
import { fakeKube, podObject } from "./fake-kube.js";

function world() {
  const kube = fakeKube();
  kube.put("configmaps", { metadata: { name: "settings", namespace: "shop" }, data: { A: "1", "file.json": "{}" } });
  kube.put("secrets", {
    metadata: { name: "keys", namespace: "shop" },
    data: { K: Buffer.from("s3cret").toString("base64") },
  });
  return kube;
}

it("reads variables as the kubelet does", () => {
  const container = {
    envFrom: [{ prefix: "P_", configMapRef: { name: "settings" } }],
    env: [
      { name: "HOST", value: "cart" },
      { name: "ADDR", value: "$(HOST):8080" },
      { name: "LATER", value: "$(AFTER)" },
      { name: "AFTER", value: "x" },
      { name: "ESCAPED", value: "$$(HOST)" },
      { name: "EMPTY" },
      { name: "FROM_MAP", valueFrom: { configMapKeyRef: { name: "settings", key: "A" } } },
      { name: "FROM_SECRET", valueFrom: { secretKeyRef: { name: "keys", key: "K" } } },
      { name: "FROM_LABEL", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app.kubernetes.io/component']" } } },
      { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "LIMIT", valueFrom: { resourceFieldRef: { resource: "limits.memory" } } },
      { name: "GONE", valueFrom: { configMapKeyRef: { name: "nothing", key: "A", optional: true } } },
    ],
    resources: { limits: { memory: "20Mi" } },
  };
  const pod = podObject("cart", container, { labels: { "app.kubernetes.io/component": "cart" } });
  expect(Object.fromEntries(containerVariables(world(), pod, pod.spec.containers[0]))).toEqual({
    P_A: "1",
    "P_file.json": "{}",
    HOST: "cart",
    ADDR: "cart:8080",
    LATER: "$(AFTER)",
    AFTER: "x",
    ESCAPED: "$(HOST)",
    EMPTY: "",
    FROM_MAP: "1",
    FROM_SECRET: "s3cret",
    FROM_LABEL: "cart",
    POD_IP: "10.1.0.1",
    LIMIT: "20Mi",
  });
});

it("finds files in ConfigMap, Secret and written volumes", () => {
  const container = {
    volumeMounts: [
      { name: "ro", mountPath: "/config" },
      { name: "one", mountPath: "/etc/one.json", subPath: "file.json" },
      { name: "keys", mountPath: "/keys" },
      { name: "rw", mountPath: "/rw" },
    ],
  };
  const volumes = [
    { name: "ro", configMap: { name: "settings" } },
    { name: "one", configMap: { name: "settings" } },
    { name: "keys", secret: { secretName: "keys" } },
    { name: "rw", emptyDir: {} },
  ];
  const pod = podObject("cart", container, { spec: { volumes, containers: [{ name: "cart", ...container }] } });
  const [inside] = pod.spec.containers;
  const kube = world();
  const written = new Map([["rw/a.json", "[1]"]]);
  expect(containerFile(kube, pod, inside, "/config/file.json")).toBe("{}");
  expect(containerFile(kube, pod, inside, "/etc/one.json")).toBe("{}");
  expect(containerFile(kube, pod, inside, "/keys/K")).toBe("s3cret");
  expect(containerFile(kube, pod, inside, "/rw/a.json", written)).toBe("[1]");
  expect(containerFile(kube, pod, inside, "/config/none")).toBeUndefined();
  expect(writablePlace(pod, inside, "/rw/a.json")).toBe("rw/a.json");
  expect(writablePlace(pod, inside, "/config/a.json")).toBeUndefined();
});
