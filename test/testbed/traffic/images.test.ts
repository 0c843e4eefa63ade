import { describe, expect, it } from "vitest";
import { findApplication } from "../../../testbed/apps/index.js";
import { createImages, parseImage } from "../../../testbed/traffic/images.js";

const images = createImages([findApplication("opentelemetry-demo")]);

describe("parseImage", () => {
  it.each([
    ["busybox", "docker.io/library/busybox", "latest"],
    ["busybox:1.36", "docker.io/library/busybox", "1.36"],
    ["grafana/loki:3.6.0", "docker.io/grafana/loki", "3.6.0"],
    ["ghcr.io/a/b:c", "ghcr.io/a/b", "c"],
    ["localhost:5000/a", "localhost:5000/a", "latest"],
  ])("%s", (text, repository, tag) => {
    expect(parseImage(text)).toEqual({ repository, tag });
  });
  it.each(["Bad Image", "a:b:c:", "", "UPPER/case"])("%s is no image name", (text) => {
    expect(parseImage(text)).toBeUndefined();
  });
});

describe("pulling", () => {
  it.each([
    "ghcr.io/open-telemetry/demo:3.0.0-cart",
    "ghcr.io/open-telemetry/demo:2.0.2-product-catalog",
    "ghcr.io/open-telemetry/demo:latest-cart",
    "busybox",
    "postgres:18.4",
    "postgres:17",
    "nginx:1.27-alpine",
    "ghcr.io/valkey-io/valkey:9.0.4-alpine3.23",
    "ghcr.io/open-feature/flagd:v0.16.0",
  ])("%s exists", (image) => {
    expect(images.pull(image)).toMatchObject({ ok: true });
  });

  it.each([
    ["ghcr.io/open-telemetry/demo:3.0.0-no-such-service", "ErrImagePull", /NotFound.*no-such-service: not found$/],
    ["ghcr.io/open-telemetry/demo:9.9.9-cart", "ErrImagePull", /not found$/],
    ["nginx:does-not-exist", "ErrImagePull", /docker\.io\/library\/nginx:does-not-exist: not found$/],
    ["nobody/nothing:1", "ErrImagePull", /pull access denied, repository does not exist/],
    ["quay.io/nobody/nothing:1", "ErrImagePull", /failed to authorize/],
    ["registry.example/nothing:1", "ErrImagePull", /lookup registry\.example: no such host$/],
    ["Not An Image", "InvalidImageName", /invalid reference format/],
  ])("%s fails", (image, reason, message) => {
    expect(images.pull(image)).toMatchObject({ ok: false, reason, message: expect.stringMatching(message) });
  });

  it("knows what program an image runs, whatever its release", () => {
    expect(images.program("ghcr.io/open-telemetry/demo:3.0.0-cart")?.name).toBe("cart");
    expect(images.program("ghcr.io/open-telemetry/demo:2.0.2-cart")?.name).toBe("cart");
    expect(images.program("postgres:16")?.name).toBe("astronomy-db");
    expect(images.program("nginx:1.27")).toBeUndefined();
  });

  it("has a program for every container of the demo but the waiting ones", () => {
    const containers = findApplication("opentelemetry-demo")
      .manifests()
      .flatMap((object) => object.spec?.template?.spec?.containers ?? []);
    expect(containers.length).toBeGreaterThan(25);
    for (const { name, image } of containers) expect(images.program(image), `${name} ${image}`).toBeDefined();
  });
});
