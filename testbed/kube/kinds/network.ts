/** Endpoints, EndpointSlices, NetworkPolicies, Ingresses, IngressClasses. */
import { isIP } from "node:net";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../errors.js";
import { age, selectorText } from "./print.js";
import { AGE_COLUMN, type KindRules, NAME_COLUMN, text } from "./rules.js";
import {
  immutable,
  label1035Problems,
  oneOf,
  portNameProblems,
  portNumber,
  portNumberOrName,
  subdomainProblems,
  validateSelector,
} from "./validation.js";
import { ingressWarnings } from "./warnings.js";

const MAX_SHOWN = 3;

function shorten(list: string[], total = list.length): string {
  if (list.length === 0) return "<none>";
  const text = list.slice(0, MAX_SHOWN).join(",");
  return total > MAX_SHOWN ? `${text} + ${total - MAX_SHOWN} more...` : text;
}

export const endpoints: KindRules = {
  createOnUpdate: true,
  warning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  defaults(object) {
    for (const subset of object.subsets ?? []) for (const port of subset.ports ?? []) port.protocol ??= "TCP";
  },
  columns: [NAME_COLUMN, text("Endpoints"), AGE_COLUMN],
  row(object, now) {
    const list: string[] = [];
    for (const subset of object.subsets ?? []) {
      if ((subset.ports ?? []).length === 0) for (const a of subset.addresses ?? []) list.push(a.ip);
      else for (const port of subset.ports) for (const a of subset.addresses ?? []) list.push(`${a.ip}:${port.port}`);
    }
    return [object.metadata.name, shorten(list), age(object, now)];
  },
};

export const endpointSlice: KindRules = {
  generation: "spec",
  defaults(object) {
    for (const port of object.ports ?? []) {
      port.name ??= "";
      port.protocol ??= "TCP";
    }
  },
  validate: (object) => oneOf(object.addressType, ["IPv4", "IPv6", "FQDN"], "addressType"),
  validateUpdate: (object, old) => immutable(object.addressType, old.addressType, "addressType"),
  columns: [NAME_COLUMN, text("AddressType"), text("Ports"), text("Endpoints"), AGE_COLUMN],
  row(object, now) {
    const ports: string[] = (object.ports ?? []).map((p: any) =>
      p.port !== undefined ? String(p.port) : p.name || "*",
    );
    const addresses: string[] = (object.endpoints ?? []).flatMap((e: any) => e.addresses ?? []);
    return [
      object.metadata.name,
      object.addressType,
      ports.length === 0 ? "<unset>" : shorten(ports),
      addresses.length === 0 ? "<unset>" : shorten(addresses),
      age(object, now),
    ];
  },
};

const CIDR_TEXT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

function isCidr(text: string): boolean {
  const [address = "", prefix = "", ...rest] = text.split("/");
  const family = isIP(address);
  return family !== 0 && rest.length === 0 && /^\d+$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

function validatePeer(peer: any, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ["podSelector", "namespaceSelector"]) {
    if (peer[key]) errors.push(...validateSelector(peer[key], `${field}.${key}`));
  }
  if (!peer.ipBlock) return errors;
  const { cidr, except = [] } = peer.ipBlock;
  if (!cidr) errors.push(required(`${field}.ipBlock.cidr`));
  else if (!isCidr(cidr)) errors.push(invalidValue(`${field}.ipBlock.cidr`, cidr, CIDR_TEXT));
  except.forEach((e: string, i: number) => {
    if (!isCidr(e)) errors.push(invalidValue(`${field}.ipBlock.except[${i}]`, e, CIDR_TEXT));
  });
  if (peer.podSelector || peer.namespaceSelector) {
    errors.push(forbiddenField(field, "may not specify both ipBlock and another peer"));
  }
  return errors;
}

export const networkPolicy: KindRules = {
  generation: "spec",
  defaults({ spec }) {
    if (spec === undefined) return;
    if ((spec.policyTypes ?? []).length === 0) {
      spec.policyTypes = (spec.egress ?? []).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
    }
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of rule.ports ?? []) port.protocol ??= "TCP";
    }
  },
  validate({ spec }) {
    const errors: FieldError[] = validateSelector(spec?.podSelector ?? {}, "spec.podSelector");
    for (const direction of ["ingress", "egress"]) {
      (spec?.[direction] ?? []).forEach((rule: any, i: number) => {
        (rule.ports ?? []).forEach((port: any, j: number) => {
          const here = `spec.${direction}[${i}].ports[${j}]`;
          errors.push(...oneOf(port.protocol, ["TCP", "UDP", "SCTP"], `${here}.protocol`));
          if (port.port !== undefined) errors.push(...portNumberOrName(port.port, `${here}.port`));
          if (port.endPort === undefined) return;
          if (port.port === undefined) {
            errors.push(required(`${here}.port`, "may not be specified when `port` is not specified"));
          } else if (typeof port.port === "string") {
            errors.push(
              invalidValue(`${here}.endPort`, port.endPort, "may not be specified when `port` is non-numeric"),
            );
          } else if (port.endPort < port.port) {
            errors.push(invalidValue(`${here}.endPort`, port.port, "must be greater than or equal to `port`"));
          }
        });
        const peers = direction === "ingress" ? "from" : "to";
        (rule[peers] ?? []).forEach((peer: any, j: number) => {
          const here = `spec.${direction}[${i}].${peers}[${j}]`;
          if (Object.keys(peer).length === 0) errors.push(required(here, "must specify a peer"));
          errors.push(...validatePeer(peer, here));
        });
      });
    }
    (spec?.policyTypes ?? []).forEach((type: string, i: number) => {
      if (!["Ingress", "Egress"].includes(type))
        errors.push(notSupported(`spec.policyTypes[${i}]`, type, ["Ingress", "Egress"]));
    });
    return errors;
  },
  columns: [NAME_COLUMN, text("Pod-Selector"), AGE_COLUMN],
  row: (object, now) => [object.metadata.name, selectorText(object.spec?.podSelector ?? {}), age(object, now)],
};

function validateHost(host: string, field: string): FieldError[] {
  if (isIP(host)) return [invalidValue(field, host, "must be a DNS name, not an IP address")];
  if (!host.includes("*")) return subdomainProblems(host).map((p) => invalidValue(field, host, p));
  return /^\*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(host) ? [] : [invalidValue(field, host, WILDCARD_TEXT)];
}

const WILDCARD_TEXT =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** Where an Ingress sends requests: a service's port by name or number. */
function validateBackend(backend: any, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const { service, resource } = backend ?? {};
  if (service && resource) return [invalidValue(field, "", "cannot set both resource and service backends")];
  if (resource) return [];
  if (!service) return [];
  const here = `${field}.service`;
  if (!service.name) errors.push(required(`${here}.name`));
  else for (const p of label1035Problems(service.name)) errors.push(invalidValue(`${here}.name`, service.name, p));
  const { name, number } = service.port ?? {};
  if (name && number) errors.push(invalidValue(field, "", "cannot set both port name & port number"));
  else if (name) for (const p of portNameProblems(name)) errors.push(invalidValue(`${here}.port.name`, name, p));
  else if (number) errors.push(...portNumber(number, `${here}.port.number`));
  else errors.push(required(field, "port name or number is required"));
  return errors;
}

export const ingress: KindRules = {
  generation: "spec",
  warnings: ingressWarnings,
  validate({ spec }) {
    const errors: FieldError[] = [];
    if ((spec?.rules ?? []).length === 0 && spec?.defaultBackend === undefined) {
      errors.push(invalidValue("spec", spec?.rules, "either `defaultBackend` or `rules` must be specified"));
    }
    if (spec?.defaultBackend) errors.push(...validateBackend(spec.defaultBackend, "spec.defaultBackend"));
    (spec?.rules ?? []).forEach((rule: any, i: number) => {
      if (rule.host) errors.push(...validateHost(rule.host, `spec.rules[${i}].host`));
      (rule.http?.paths ?? []).forEach((path: any, j: number) => {
        const here = `spec.rules[${i}].http.paths[${j}]`;
        if (path.pathType === undefined) errors.push(required(`${here}.pathType`, "pathType must be specified"));
        else errors.push(...oneOf(path.pathType, ["Exact", "ImplementationSpecific", "Prefix"], `${here}.pathType`));
        if (["Exact", "Prefix"].includes(path.pathType) && !path.path?.startsWith("/")) {
          errors.push(invalidValue(`${here}.path`, path.path ?? "", "must be an absolute path"));
        }
        errors.push(...validateBackend(path.backend, `${here}.backend`));
      });
    });
    return errors;
  },
  columns: [NAME_COLUMN, text("Class"), text("Hosts"), text("Address"), text("Ports"), AGE_COLUMN],
  row(object, now) {
    const { spec = {}, status = {} } = object;
    const hosts = (spec.rules ?? []).map((r: any) => r.host).filter(Boolean);
    const shown =
      hosts.length === 0
        ? "*"
        : hosts.length > MAX_SHOWN
          ? `${hosts.slice(0, MAX_SHOWN).join(",")} + ${hosts.length - MAX_SHOWN} more...`
          : hosts.join(",");
    const addresses = (status.loadBalancer?.ingress ?? []).map((i: any) => i.ip ?? i.hostname);
    return [
      object.metadata.name,
      spec.ingressClassName ?? "<none>",
      shown,
      addresses.join(","),
      (spec.tls ?? []).length > 0 ? "80, 443" : "80",
      age(object, now),
    ];
  },
};

export const ingressClass: KindRules = {
  generation: "spec",
  columns: [NAME_COLUMN, text("Controller"), text("Parameters"), AGE_COLUMN],
  row(object, now) {
    const p = object.spec?.parameters;
    return [
      object.metadata.name,
      object.spec?.controller ?? "",
      p ? `${p.kind}${p.apiGroup ? `.${p.apiGroup}` : ""}/${p.name}` : "<none>",
      age(object, now),
    ];
  },
};
