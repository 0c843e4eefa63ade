/** Reflexion: inside a tool, and across attempts. */
export { type Converse, type ReflexionEvents, type ReflexionSettings, runReflexively } from "./in-tool.js";
