/** Kubeconfig files for the simulated cluster, one a role, readable by nobody else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";

export interface KubeconfigUser {
  /** File name and user name, e.g. `read-only`. */
  name: string;
  token: string;
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
 * Writes `<folder>/<user>.kubeconfig` for each user and returns their paths by user name.
 * @param server base URL of the Kubernetes face
 * @param namespace default namespace of the context
 * @param ca PEM of the server's certificate, for one that no authority has signed
 */
export function writeKubeconfigs(
  folder: string,
  server: string,
  namespace: string,
  users: KubeconfigUser[],
  ca?: string,
): Record<string, string> {
  const trust = ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
  const paths: Record<string, string> = {};
  for (const { name, token } of users) {
    const path = join(folder, `${name}.kubeconfig`);
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "cluster", cluster: { server, ...trust } }],
      users: [{ name: "agent", user: { token } }],
      contexts: [{ name: "agent@cluster", context: { cluster: "cluster", user: "agent", namespace } }],
      "current-context": "agent@cluster",
    };
    writeFileSync(path, stringify(config), { mode: 0o600 });
    paths[name] = path;
  }
  return paths;
}
