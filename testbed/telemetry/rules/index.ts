/** Recording and alerting rules: read them, evaluate them on the virtual clock. */
export type { AlertChange, AlertRecord, GroupStatus, RuleEngine, RuleEngineOptions, RuleStatus } from "./engine.js";
export { createRuleEngine } from "./engine.js";
export type { AlertingRule, LoadOptions, RecordingRule, Rule, RuleGroup } from "./load.js";
export { ITBENCH_FOR, kubernetesRules, loadRules, loadRulesYaml, RuleError } from "./load.js";
export { compileTemplate, TEMPLATE_FUNCTION_NAMES, TemplateError } from "./template.js";
