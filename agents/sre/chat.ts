/** Talk with the SRE agent about an environment. */
import { prompt } from "../../prompts/index.js";
import type { AgentContext } from "../agent.js";
import { type Chat, createChat } from "../react/index.js";
import { sreTools } from "./tools.js";

export interface SreChatSettings {
  /** Application as a reader would name it. */
  application?: string;
  /** Whether the agent may change the cluster; it only looks otherwise. */
  writes?: boolean;
  /** Names of tools that are left out, such as those whose backend is not there. */
  without?: readonly string[];
  onToken?(token: string): void;
}

export function createSreChat(settings: SreChatSettings, context: AgentContext): Chat {
  const { application = "an application", writes = false, without = [], onToken } = settings;
  const { text } = prompt("chat", context.options.promptVariant, {
    application,
    namespaces: context.namespaces.join(", "),
    steps: String(context.limits.maxSteps),
    writes: writes ? "yes" : "",
    reads: writes ? "" : "yes",
  });
  return createChat(
    {
      system: text,
      tools: (run) => sreTools(run, writes).filter((tool) => !without.includes(tool.name)),
      ...(onToken === undefined ? {} : { onToken }),
    },
    context,
  );
}
