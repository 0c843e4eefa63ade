/** The SRE agent. */
export { sreAgent } from "./agent.js";
export { createSreChat, type SreChatSettings } from "./chat.js";
export {
  composeSreOutput,
  diagnosisSchema,
  mitigationSchema,
  type SreDiagnosis,
  type SreEntity,
  type SreMitigation,
  type SreOutput,
} from "./output.js";
export type { DiagnosisTask, MitigationTask, SreTask, SreTaskOutput } from "./task.js";
