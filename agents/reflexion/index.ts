/** Reflexion: inside a tool, and across attempts; and the memory of runbooks and past incidents. */
export {
  type AttemptReflection,
  type AttemptReport,
  type AttemptVerdict,
  judgeAttempt,
  reflectOnAttempt,
  SETTLE_SECONDS,
} from "./across-attempts.js";
export { type Converse, type ReflexionEvents, type ReflexionSettings, runReflexively } from "./in-tool.js";
export {
  chunkMarkdown,
  createRunbookMemory,
  DEFAULT_TOP,
  fenceChunks,
  type RunbookChunk,
  type RunbookDocument,
  type RunbookMatch,
  type RunbookMemory,
} from "./runbooks.js";
