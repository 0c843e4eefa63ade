/** Label matchers as Prometheus and Loki read them: Go's regular expressions over the whole value, in linear time. */
import { RE2JS } from "re2js";

/** Whether `value` matches all of `pattern`; a pattern that cannot be read is left to the server, and matches. */
export function valueMatches(pattern: string, value: string): boolean {
  try {
    return RE2JS.compile(pattern).testExact(value);
  } catch {
    return true;
  }
}
