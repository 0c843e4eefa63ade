/** The OpenTelemetry Demo: an astronomy shop of 25 workloads in ten languages. Our own model of it. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { packageFile } from "../../../paths.js";
import type { Application } from "../application.js";
import { demoArguments } from "./arguments.js";
import { demoBehaviour } from "./behaviour.js";
import { demoManifests, NAMESPACE } from "./manifests.js";

export const opentelemetryDemo: Application = {
  id: "opentelemetry-demo",
  namespace: NAMESPACE,
  /** @throws ZodError when an argument has another shape than ITBench's schema says. */
  manifests: (args) => demoManifests(demoArguments.parse(args ?? undefined)),
  rules: () => [
    parse(readFileSync(packageFile("testbed", "apps", "opentelemetry-demo", "rules.yaml"), "utf8")) as {
      groups: unknown[];
    },
  ],
  behaviour: demoBehaviour,
};
