/** Who may use a database server: what its initialization scripts say. */
import type { Process } from "./processes.js";

export interface Accounts {
  /** Passwords by user. */
  accounts: ReadonlyMap<string, string>;
  databases: ReadonlySet<string>;
}

/** Users and databases that `scripts` (SQL) create, beside the superuser of the image. */
export function readAccounts(scripts: readonly string[], superuserPassword: string): Accounts {
  const accounts = new Map([["postgres", superuserPassword]]);
  const databases = new Set(["postgres"]);
  for (const sql of scripts) {
    for (const found of sql.matchAll(/CREATE\s+USER\s+"?(\w+)"?\s+WITH\s+(?:ENCRYPTED\s+)?PASSWORD\s+'([^']*)'/gi)) {
      accounts.set(found[1]!, found[2]!);
    }
    for (const found of sql.matchAll(/CREATE\s+DATABASE\s+"?(\w+)"?/gi)) databases.add(found[1]!);
  }
  return { accounts, databases };
}

/** Why a database does not let these credentials in; undefined when it does. */
export function accountProblem(
  server: Process,
  { user, password, database }: { user?: string; password?: string; database?: string },
): string | undefined {
  if (server.accounts === undefined) return undefined;
  if (user === undefined || server.accounts.get(user) !== (password ?? "")) {
    return `password authentication failed for user "${user ?? ""}"`;
  }
  if (database !== undefined && server.databases?.has(database) === false)
    return `database "${database}" does not exist`;
  return undefined;
}
