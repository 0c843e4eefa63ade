/** Services: addresses and node ports are handed out here. */
import { isIP } from "node:net";
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required } from "../errors.js";
import { equal } from "../json.js";
import type { KubeObject } from "../objects.js";
import { internalForm } from "./internal-form.js";
import { age, labelText } from "./print.js";
import { AGE_COLUMN, type KindContext, type KindRules, NAME_COLUMN, text } from "./rules.js";
import {
  labelProblems,
  oneOf,
  portNameProblems,
  portNumber,
  portNumberOrName,
  subdomainProblems,
  validateLabels,
} from "./validation.js";
import { serviceWarnings } from "./warnings.js";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/** 10.96.0.0/16; the first address is the API server's. */
const NETWORK = "10.96";
const FIRST_NODE_PORT = 30000;
const NODE_PORTS = 2768;

const wantsNodePorts = (spec: any) =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);

export const service: KindRules = {
  name: "service",
  returnsDeleted: true,
  createOnUpdate: true,
  warnings: serviceWarnings,
  fields: ["spec.clusterIP", "spec.type"],
  fieldValue: (object, field) => String(object.spec?.[field.slice(5)] ?? ""),
  defaults({ spec }) {
    spec.sessionAffinity ??= "None";
    if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
    if (spec.sessionAffinity === "ClientIP") {
      spec.sessionAffinityConfig ??= {};
      spec.sessionAffinityConfig.clientIP ??= {};
      spec.sessionAffinityConfig.clientIP.timeoutSeconds ??= 10800;
    }
    spec.type ??= "ClusterIP";
    for (const port of spec.ports ?? []) {
      port.protocol ??= "TCP";
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "") port.targetPort = port.port;
    }
    if (spec.type === "NodePort" || spec.type === "LoadBalancer") spec.externalTrafficPolicy ??= "Cluster";
    if (spec.type !== "ExternalName") spec.internalTrafficPolicy ??= "Cluster";
    if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
  },
  prepareCreate(object) {
    object.status = { loadBalancer: {} };
  },
  prepareUpdate(object, old) {
    const spec = object.spec;
    const before = old.spec;
    // What the server handed out stays unless the writer says otherwise; what another type cannot have is dropped.
    if (spec.type !== "ExternalName" && before.type !== "ExternalName") {
      if (spec.clusterIP === undefined) {
        spec.clusterIP = before.clusterIP;
        spec.clusterIPs ??= before.clusterIPs;
      } else if (spec.clusterIPs === undefined || spec.clusterIPs[0] !== spec.clusterIP)
        spec.clusterIPs = [spec.clusterIP];
      spec.ipFamilies ??= before.ipFamilies;
      spec.ipFamilyPolicy ??= before.ipFamilyPolicy;
    }
    if (spec.type === "ExternalName" && before.type !== "ExternalName") {
      for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]) {
        if (equal(spec[key], before[key])) delete spec[key];
      }
    }
    if (wantsNodePorts(spec) && wantsNodePorts(before)) {
      for (const port of spec.ports ?? []) {
        const known = (before.ports ?? []).find((p: any) => p.port === port.port && p.protocol === port.protocol);
        port.nodePort ??= known?.nodePort;
        if (port.nodePort === undefined) delete port.nodePort;
      }
    }
    if (!wantsNodePorts(spec)) {
      for (const port of spec.ports ?? []) {
        if ((before.ports ?? []).some((p: any) => p.nodePort !== undefined && p.nodePort === port.nodePort))
          delete port.nodePort;
      }
    }
    if (
      spec.type !== "NodePort" &&
      spec.type !== "LoadBalancer" &&
      before.externalTrafficPolicy === spec.externalTrafficPolicy
    ) {
      delete spec.externalTrafficPolicy;
    }
    if (spec.type !== "LoadBalancer") delete spec.allocateLoadBalancerNodePorts;
  },
  allocate: allocateAddresses,
  validate: validateService,
  validateStatus: validateServiceStatus,
  validateUpdate(object, old) {
    const was = old.spec;
    if (was.type === "ExternalName" || object.spec.type === "ExternalName") return [];
    if (was.clusterIP && object.spec.clusterIP !== was.clusterIP) {
      return [
        invalidValue(
          "spec.clusterIPs[0]",
          object.spec.clusterIPs ?? [object.spec.clusterIP],
          "may not change once set",
        ),
      ];
    }
    return [];
  },
  columns: [
    NAME_COLUMN,
    text("Type"),
    text("Cluster-IP"),
    text("External-IP"),
    text("Port(s)"),
    AGE_COLUMN,
    text("Selector", 1),
  ],
  row(object, now) {
    const { spec } = object;
    return [
      object.metadata.name,
      spec.type,
      spec.clusterIP || "<none>",
      externalAddress(object),
      portsText(spec.ports),
      age(object, now),
      labelText(spec.selector),
    ];
  },
};

function allocateAddresses(
  object: KubeObject,
  _old: KubeObject | undefined,
  context: KindContext,
): FieldError[] | undefined {
  const spec = object.spec;
  if (spec.type === "ExternalName") return undefined;
  const unaddressable = validateAddresses(spec).filter((e) => e.field.startsWith("spec.clusterIPs"));
  const errors: FieldError[] = [...unaddressable, ...singleStack(spec)];
  if (errors.length > 0) return errors;
  const others = context
    .list("services")
    .filter((s) => s.metadata.name !== object.metadata.name || s.metadata.namespace !== object.metadata.namespace);
  spec.clusterIP ??= spec.clusterIPs?.[0];
  const taken = new Set(others.map((s) => s.spec.clusterIP));
  if (spec.clusterIP === undefined || spec.clusterIP === "") {
    do {
      spec.clusterIP = `${NETWORK}.${1 + context.random.int(254)}.${1 + context.random.int(254)}`;
    } while (taken.has(spec.clusterIP));
  } else if (spec.clusterIP !== "None" && taken.has(spec.clusterIP)) {
    errors.push(
      invalidValue(
        "spec.clusterIPs",
        [spec.clusterIP],
        `failed to allocate IP ${spec.clusterIP}: provided IP is already allocated`,
      ),
    );
  } else if (spec.clusterIP !== "None" && !spec.clusterIP.startsWith(`${NETWORK}.`)) {
    errors.push(
      invalidValue(
        "spec.clusterIPs",
        [spec.clusterIP],
        `failed to allocate IP ${spec.clusterIP}: the provided network does not match the current range`,
      ),
    );
  }
  spec.clusterIPs ??= [spec.clusterIP];
  spec.ipFamilies ??= ["IPv4"];
  spec.ipFamilyPolicy ??= "SingleStack";
  if (!wantsNodePorts(spec)) return errors;
  const ports = new Set(others.flatMap((s) => (s.spec.ports ?? []).map((p: any) => p.nodePort)));
  (spec.ports ?? []).forEach((port: any, i: number) => {
    if (!port.nodePort) {
      do {
        port.nodePort = FIRST_NODE_PORT + context.random.int(NODE_PORTS);
      } while (ports.has(port.nodePort));
    } else if (ports.has(port.nodePort)) {
      errors.push(invalidValue(`spec.ports[${i}].nodePort`, port.nodePort, "provided port is already allocated"));
    } else if (port.nodePort < FIRST_NODE_PORT || port.nodePort >= FIRST_NODE_PORT + NODE_PORTS) {
      errors.push(
        invalidValue(
          `spec.ports[${i}].nodePort`,
          port.nodePort,
          `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${FIRST_NODE_PORT + NODE_PORTS - 1}`,
        ),
      );
    }
    ports.add(port.nodePort);
  });
  return errors;
}

function validateService(object: KubeObject): FieldError[] {
  const { spec } = object;
  const errors: FieldError[] = [];
  const ports: any[] = spec.ports ?? [];
  const headless = spec.clusterIP === "None" || spec.clusterIPs?.[0] === "None";
  if (ports.length === 0 && !headless && spec.type !== "ExternalName") errors.push(required("spec.ports"));
  if (spec.type === "ExternalName") {
    if (!spec.externalName) errors.push(required("spec.externalName"));
    else
      for (const p of subdomainProblems(spec.externalName.replace(/\.$/, "")))
        errors.push(invalidValue("spec.externalName", spec.externalName, p));
    if (spec.clusterIP) errors.push(forbiddenField("spec.clusterIPs", "may not be set when `type` is 'ExternalName'"));
  }
  if (headless && (spec.type === "NodePort" || spec.type === "LoadBalancer")) {
    errors.push(invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${spec.type} services`));
  }
  const names = new Set<string>();
  ports.forEach((port, i) => {
    const here = `spec.ports[${i}]`;
    if (ports.length > 1 && !port.name) errors.push(required(`${here}.name`));
    else if (port.name) {
      for (const p of labelProblems(port.name)) errors.push(invalidValue(`${here}.name`, port.name, p));
      if (names.has(port.name)) errors.push(duplicate(`${here}.name`, port.name));
      names.add(port.name);
    }
    errors.push(...portNumber(port.port ?? 0, `${here}.port`));
    errors.push(...oneOf(port.protocol, ["SCTP", "TCP", "UDP"], `${here}.protocol`));
    if (typeof port.targetPort === "string") {
      for (const p of portNameProblems(port.targetPort))
        errors.push(invalidValue(`${here}.targetPort`, port.targetPort, p));
    } else errors.push(...portNumberOrName(port.targetPort, `${here}.targetPort`));
    if (port.nodePort && (spec.type === "ClusterIP" || spec.type === "ExternalName")) {
      errors.push(forbiddenField(`${here}.nodePort`, `may not be used when \`type\` is '${spec.type}'`));
    }
  });
  errors.push(...validateAddresses(spec));
  errors.push(...validateLabels(spec.selector, "spec.selector"));
  const stickiness = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (spec.sessionAffinity === "ClientIP" && !(stickiness > 0 && stickiness <= MAX_STICKINESS)) {
    errors.push(
      invalidValue(
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
        stickiness,
        `must be greater than 0 and less than ${MAX_STICKINESS}`,
      ),
    );
  }
  if (spec.internalTrafficPolicy !== undefined) {
    errors.push(...oneOf(spec.internalTrafficPolicy, ["Cluster", "Local"], "spec.internalTrafficPolicy"));
  }
  if (!["ClientIP", "None"].includes(spec.sessionAffinity)) {
    errors.push(notSupported("spec.sessionAffinity", spec.sessionAffinity, ["ClientIP", "None"]));
  }
  errors.push(...oneOf(spec.type, TYPES, "spec.type"));
  const seen = new Set<string>();
  ports.forEach((port, i) => {
    const id = `${port.protocol}/${port.port}`;
    if (seen.has(id))
      errors.push(
        duplicate(`spec.ports[${i}]`, internalForm({ protocol: port.protocol, port: port.port }, "servicePort")),
      );
    seen.add(id);
  });
  return errors;
}

/** Longest session affinity, in seconds: a day. */
const MAX_STICKINESS = 86400;
const IP_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

function validateAddresses(spec: any): FieldError[] {
  const errors: FieldError[] = [];
  const given: string[] = spec.clusterIPs ?? (spec.clusterIP ? [spec.clusterIP] : []);
  given.forEach((ip, i) => {
    if (ip !== "" && ip !== "None" && isIP(ip) === 0) errors.push(invalidValue(`spec.clusterIPs[${i}]`, ip, IP_TEXT));
  });
  (spec.externalIPs ?? []).forEach((ip: string, i: number) => {
    if (isIP(ip) === 0) errors.push(invalidValue(`spec.externalIPs[${i}]`, ip, IP_TEXT));
  });
  return errors;
}

/** A cluster of one address family cannot give what needs two. */
function singleStack(spec: any): FieldError[] {
  if (spec.ipFamilyPolicy !== "RequireDualStack") return [];
  const why = "this cluster is not configured for dual-stack services";
  return [invalidValue("spec.ipFamilyPolicy", spec.ipFamilyPolicy, why)];
}

/** Only a load balancer has an address from outside. */
function validateServiceStatus({ spec, status }: KubeObject): FieldError[] {
  if (spec.type === "LoadBalancer" || (status?.loadBalancer?.ingress ?? []).length === 0) return [];
  return [forbiddenField("status.loadBalancer.ingress", "may only be used when `spec.type` is 'LoadBalancer'")];
}

function externalAddress({ spec, status }: KubeObject): string {
  const ips: string[] = spec.externalIPs ?? [];
  if (spec.type === "ExternalName") return spec.externalName ?? "";
  if (spec.type === "LoadBalancer") {
    const ingress = (status?.loadBalancer?.ingress ?? []).map((i: any) => i.ip ?? i.hostname);
    const list = [...ingress, ...ips];
    return list.length > 0 ? list.join(",") : "<pending>";
  }
  return ips.length > 0 ? ips.join(",") : "<none>";
}

function portsText(ports: any[] | undefined): string {
  if (!ports || ports.length === 0) return "<none>";
  return ports.map((p) => (p.nodePort ? `${p.port}:${p.nodePort}/${p.protocol}` : `${p.port}/${p.protocol}`)).join(",");
}
