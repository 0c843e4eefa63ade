/** Notes of past incidents, for the runbooks of later runs. They hold what an agent said, and nothing else. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SreOutput } from "../../agents/sre/output.js";

/** A note in Markdown, or undefined when the agent found nothing. Pure: of the agent's answer alone. */
export function incidentNote(output: SreOutput): string | undefined {
  const causes = output.entities.filter((entity) => entity.contributing_factor);
  if (causes.length === 0) return undefined;
  const symptoms = output.entities.filter((entity) => !entity.contributing_factor);
  const { mitigation } = output;
  const explained = (yes: boolean) =>
    output.alerts_explained.filter((entry) => entry.explained === yes).map(({ alert }) => alert);
  const sections: [string, string[]][] = [
    [
      "Root cause",
      causes.flatMap(({ name, reasoning, evidence }) => [
        item(`${name}: ${reasoning}`),
        ...(evidence ? [`  Evidence: ${oneLine(evidence)}`] : []),
      ]),
    ],
    [
      "Mitigation",
      mitigation
        ? [
            ...mitigation.actions.map(({ command, result }) => item(`\`${oneLine(command)}\`: ${result}`)),
            mitigation.verified
              ? "The agent reported that the alerts cleared."
              : "The agent did not see the alerts clear: do not rely on this.",
          ]
        : ["No answer was given."],
    ],
    ["Alerts", joined(explained(true))],
    ["Alerts that this does not explain", joined(explained(false))],
    ["Symptoms", joined(symptoms.map(({ name }) => name))],
    [
      "How it spread",
      output.propagations.map(({ source, target, condition, effect }) =>
        item(`${source} -> ${target}: ${condition}; ${effect}`),
      ),
    ],
  ];
  const body = sections.filter(([, lines]) => lines.length > 0).map(([title, lines]) => [`## ${title}`, ...lines]);
  return `${[[`# Incident: ${causes.map((cause) => cause.name).join(", ")}`], ...body].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/**
 * Writes the note into `folder`, under a name made of its content: the same answer is the same file.
 * @returns the file, or undefined when there is nothing to note
 */
export function saveIncident(folder: string, output: SreOutput): string | undefined {
  const note = incidentNote(output);
  if (note === undefined) return undefined;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `incident-${createHash("sha256").update(note).digest("hex").slice(0, 12)}.md`);
  writeFileSync(file, note);
  return file;
}

function joined(names: readonly string[]): string[] {
  return names.length === 0 ? [] : [[...new Set(names.map(oneLine))].join(", ")];
}

function item(text: string): string {
  return `- ${oneLine(text)}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
