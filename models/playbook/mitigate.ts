/** The mitigation playbook: look again, apply each cause's remedy, wait until the alerts are gone, report. */
import { stringify } from "yaml";
import { causes, investigate } from "./diagnose.js";
import { type Evidence, noneFires } from "./evidence.js";
import type { Hypothesis, Remedy } from "./hypotheses.js";
import { ask, type Call, NOT_MADE, type Script } from "./script.js";
import { alertsCall, kubectlCall, type Toolbox, waitCall } from "./toolbox.js";

/** Seconds between two looks at the alerts, and how many looks: 15 minutes in all, the longest `for` and window twice. */
const WAIT_SECONDS = 180;
const LOOKS = 5;

interface Action {
  command: string;
  result: string;
}

export function* mitigate(toolbox: Toolbox): Script {
  const { evidence } = yield* investigate(toolbox);
  const found = causes(evidence);
  const actions: Action[] = [];
  for (const cause of found) {
    const place = evidence.find((one) => cause.entity.startsWith(`${one.namespace}/`));
    if (place) actions.push(...(yield* remedy(toolbox, place, cause)));
  }
  let verified = false;
  for (let look = 0; look < LOOKS && !verified && (actions.length > 0 || look === 0); look++) {
    if (actions.length > 0) yield* one(waitCall(toolbox, WAIT_SECONDS));
    verified = noneFires(yield* one(alertsCall(toolbox)));
  }
  yield* ask(toolbox.submit, {
    plan: found.map((cause) => `${cause.condition}: ${describe(cause.remedy)}`),
    actions: actions.filter((action) => action.result !== NOT_MADE),
    verified,
    summary: verified ? "No alert fires any more." : "Alerts still fire after the actions.",
  });
}

function* one(call: Call): Script<string> {
  return yield* ask(call.tool, call.args);
}

function describe(remedy: Remedy): string {
  switch (remedy.kind) {
    case "undo":
      return `go back to the previous revision of ${remedy.workload.name}`;
    case "scale":
      return `scale ${remedy.workload.name} to ${remedy.replicas}`;
    case "target-ports":
      return `set the target ports of Service ${remedy.service.name} to ${remedy.ports.map((one) => one.targetPort).join(", ")}`;
    case "selector":
      return `let Service ${remedy.service.name} select the pods of its workload`;
    case "create-service":
      return `create Service ${remedy.name} again`;
    case "flags":
      return `switch ${remedy.flags.map((flag) => flag.name).join(", ")} off and restart what read it`;
  }
}

function* remedy(toolbox: Toolbox, evidence: Evidence, cause: Hypothesis): Script<Action[]> {
  const { namespace } = evidence;
  const run = function* (command: string, manifest?: string): Script<Action> {
    const result = yield* one(kubectlCall(toolbox, command, manifest));
    return { command, result: result.trim().slice(0, 300) };
  };
  const how = cause.remedy;
  switch (how.kind) {
    case "undo":
      return [
        yield* run(`kubectl rollout undo ${how.workload.kind.toLowerCase()}/${how.workload.name} -n ${namespace}`),
      ];
    case "scale":
      return [
        yield* run(
          `kubectl scale ${how.workload.kind.toLowerCase()}/${how.workload.name} --replicas=${how.replicas} -n ${namespace}`,
        ),
      ];
    case "target-ports": {
      const patch = { spec: { ports: how.ports } };
      return [yield* run(`kubectl patch service ${how.service.name} -n ${namespace} -p '${JSON.stringify(patch)}'`)];
    }
    case "selector": {
      // `null` takes out what the merge would leave standing.
      const gone = Object.keys(how.service.selector).filter((key) => !(key in how.selector));
      const selector = { ...Object.fromEntries(gone.map((key) => [key, null])), ...how.selector };
      const patch = { spec: { selector } };
      return [
        yield* run(
          `kubectl patch service ${how.service.name} -n ${namespace} --type=merge -p '${JSON.stringify(patch)}'`,
        ),
      ];
    }
    case "create-service": {
      const manifest = stringify({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: how.name, namespace },
        spec: {
          selector: how.selector,
          ports: how.ports.map(({ port, targetPort }) => ({ name: `tcp-${port}`, port, targetPort })),
        },
      });
      return [yield* run(`kubectl apply -n ${namespace} -f -`, manifest)];
    }
    case "flags":
      return yield* switchOff(namespace, how, run);
  }
}

/** Flags are read by a server at its start, and by some services once: all are restarted. */
function* switchOff(
  namespace: string,
  { configMap, flags }: Extract<Remedy, { kind: "flags" }>,
  run: (command: string) => Script<Action>,
): Script<Action[]> {
  const data: Record<string, string> = {};
  for (const key of new Set(flags.map((flag) => flag.key))) {
    const own = flags.filter((flag) => flag.key === key);
    const document = JSON.parse(own[0]!.document);
    for (const flag of own) document.flags[flag.name].defaultVariant = "off";
    data[key] = JSON.stringify(document, null, 2);
  }
  const patch = JSON.stringify({ data });
  // The single quotes of a shell word cannot hold a single quote.
  const quoted = patch.replaceAll("'", "\\u0027");
  return [
    yield* run(`kubectl patch configmap ${configMap} -n ${namespace} --type=merge -p '${quoted}'`),
    yield* run(`kubectl rollout restart deployment -n ${namespace}`),
  ];
}
