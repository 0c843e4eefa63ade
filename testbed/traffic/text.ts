/** Templates of log lines and messages. */

/**
 * Replaces `{name}` by `value(name)`; a name without a value stays as it is, so that JSON braces survive. In a template
 * that is a JSON object the values are escaped as JSON text.
 */
export function fill(template: string, value: (name: string) => string | undefined): string {
  const json = template.startsWith('{"');
  return template.replaceAll(/\{([A-Za-z_]+)\}/g, (whole, name: string) => {
    const text = value(name);
    if (text === undefined) return whole;
    return json ? JSON.stringify(text).slice(1, -1) : text;
  });
}
