/** The agents, and what a harness needs to run them. */
export * from "./agent.js";
export {
  fileTranscript,
  MemoryTranscript,
  type RecordedEvent,
  type TokenCount,
  type TranscriptEvent,
  type TranscriptSink,
  teeTranscript,
} from "./react/index.js";
export {
  type AttemptReport,
  type AttemptVerdict,
  createRunbookMemory,
  judgeAttempt,
  type RunbookDocument,
  type RunbookMemory,
  reflectOnAttempt,
} from "./reflexion/index.js";
export * from "./sre/index.js";
