/** Flags that several verbs share, and those that every verb has. */
import type { FlagSpecs } from "../flags.js";

const TARGET = "the connection is set for you: leave this flag out";
const FILES = "local files cannot be read or written here: pass a manifest in the tool's manifest argument with `-f -`";

/** Flags of every command. Those that change who asks, whom, or which files are touched are refused. */
export const GLOBAL_FLAGS: FlagSpecs = {
  namespace: { type: "string", short: "n" },
  "request-timeout": { type: "string", default: "0" },
  v: { type: "string", short: "v" },
  help: { type: "bool", short: "h" },
  "warnings-as-errors": { type: "bool" },
  "match-server-version": { type: "bool" },
  "disable-compression": { type: "bool" },
  kubeconfig: { type: "string", forbidden: TARGET },
  server: { type: "string", short: "s", forbidden: TARGET },
  token: { type: "string", forbidden: TARGET },
  username: { type: "string", forbidden: TARGET },
  password: { type: "string", forbidden: TARGET },
  as: { type: "string", forbidden: "you cannot act as somebody else: leave this flag out" },
  "as-group": { type: "list", forbidden: "you cannot act as somebody else: leave this flag out" },
  "as-uid": { type: "string", forbidden: "you cannot act as somebody else: leave this flag out" },
  context: { type: "string", forbidden: TARGET },
  cluster: { type: "string", forbidden: TARGET },
  user: { type: "string", forbidden: TARGET },
  "certificate-authority": { type: "string", forbidden: TARGET },
  "client-certificate": { type: "string", forbidden: TARGET },
  "client-key": { type: "string", forbidden: TARGET },
  "insecure-skip-tls-verify": { type: "bool", forbidden: TARGET },
  "tls-server-name": { type: "string", forbidden: TARGET },
  "cache-dir": { type: "string", forbidden: FILES },
  profile: { type: "string", forbidden: FILES },
  "profile-output": { type: "string", forbidden: FILES },
  kuberc: { type: "string", forbidden: FILES },
  vmodule: { type: "string", forbidden: "log levels are not yours to set: leave this flag out" },
  "log-flush-frequency": { type: "string" },
};

export const SELECTOR: FlagSpecs = { selector: { type: "string", short: "l" } };
export const ALL_NAMESPACES: FlagSpecs = { "all-namespaces": { type: "bool", short: "A" } };

/** `-o` and what belongs to it. */
export const OUTPUT: FlagSpecs = {
  output: { type: "string", short: "o" },
  template: { type: "string" },
  "allow-missing-template-keys": { type: "string", bare: "true", default: "true" },
  "show-managed-fields": { type: "bool" },
};

export const FILENAME: FlagSpecs = {
  filename: { type: "csv", short: "f" },
  recursive: { type: "bool", short: "R" },
  kustomize: { type: "string", short: "k", forbidden: FILES },
};

/** Of verbs that write. */
export const WRITING: FlagSpecs = {
  "dry-run": { type: "string", bare: "unchanged", default: "none" },
  "field-manager": { type: "string" },
  validate: { type: "string", bare: "strict", default: "strict" },
};

/** Flags whose value would be a local path, whatever the verb. */
export const FILE_FLAGS: FlagSpecs = {
  "from-file": { type: "list", forbidden: FILES },
  "from-env-file": { type: "list", forbidden: FILES },
  "patch-file": { type: "string", forbidden: FILES },
  "output-directory": { type: "string", forbidden: FILES },
  cert: { type: "string", forbidden: FILES },
  key: { type: "string", forbidden: FILES },
};
