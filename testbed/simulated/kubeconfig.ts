/** Kubeconfig files for the simulated cluster, one a role, readable by nobody else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";

export interface KubeconfigContent {
  /** Base URL of the Kubernetes face. */
  server: string;
  /** Default namespace of the context. */
  namespace: string;
  token: string;
  /** PEM of the server's certificate, for one that no authority has signed. */
  ca?: string | undefined;
}

/** A private temporary folder that is gone at `remove()`, and at the latest when the process ends. */
export interface PrivateFolder {
  path: string;
  remove(): void;
}

/** Makes a private temporary folder. */
export function privateFolder(): PrivateFolder {
  const path = mkdtempSync(join(tmpdir(), "itbench-"));
  const remove = () => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.on("exit", remove);
  return { path, remove };
}

/**
 * Writes `<folder>/kubeconfig`, for its owner only.
 * @returns its path
 */
export function writeKubeconfig(folder: string, { server, namespace, token, ca }: KubeconfigContent): string {
  const trust = ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
  const path = join(folder, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "cluster", cluster: { server, ...trust } }],
    users: [{ name: "agent", user: { token } }],
    contexts: [{ name: "agent@cluster", context: { cluster: "cluster", user: "agent", namespace } }],
    "current-context": "agent@cluster",
  };
  writeFileSync(path, stringify(config), { mode: 0o600 });
  return path;
}
