/** The ReAct loop that all agents share. */
export { type Chat, type ChatSettings, createChat } from "./chat.js";
export { type ReactTask, runReact } from "./loop.js";
export { createToolContext } from "./nested.js";
export type { SubmitSpec } from "./submit.js";
export type { TaskRun } from "./task-run.js";
export {
  fileTranscript,
  MemoryTranscript,
  type RecordedEvent,
  type TokenCount,
  type TranscriptEvent,
  type TranscriptSink,
  teeTranscript,
} from "./transcript.js";
