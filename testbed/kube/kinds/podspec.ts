/** Pod specs and pod templates, which many kinds carry: what is filled in, and what is refused. */
import {
  duplicate,
  type FieldError,
  fieldNotFound,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../errors.js";
import { compareQuantities } from "../quantity.js";
import {
  labelProblems,
  NON_NEGATIVE,
  nonNegative,
  oneOf,
  portNameProblems,
  portNumber,
  portNumberOrName,
  qualifiedNameProblems,
  subdomainProblems,
  validateLabels,
  validateSelector,
} from "./validation.js";

const DEFAULT_MODE = 0o644;

/** Fills in a pod spec's defaults, in place. */
export function defaultPodSpec(spec: any): void {
  spec.restartPolicy ??= "Always";
  spec.dnsPolicy ??= "ClusterFirst";
  spec.terminationGracePeriodSeconds ??= 30;
  spec.securityContext ??= {};
  spec.schedulerName ??= "default-scheduler";
  if (spec.serviceAccountName !== undefined) spec.serviceAccount = spec.serviceAccountName;
  else if (spec.serviceAccount !== undefined) spec.serviceAccountName = spec.serviceAccount;
  for (const container of spec.containers ?? []) defaultContainer(container);
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  if (spec.hostNetwork) {
    for (const container of spec.containers ?? []) {
      for (const port of container.ports ?? []) port.hostPort ??= port.containerPort;
    }
  }
}

function defaultContainer(container: any): void {
  container.terminationMessagePath ??= "/dev/termination-log";
  container.terminationMessagePolicy ??= "File";
  if (container.imagePullPolicy === undefined) {
    container.imagePullPolicy = latest(container.image ?? "") ? "Always" : "IfNotPresent";
  }
  container.resources ??= {};
  for (const port of container.ports ?? []) port.protocol ??= "TCP";
  for (const env of container.env ?? []) {
    if (env.valueFrom?.fieldRef) env.valueFrom.fieldRef.apiVersion ??= "v1";
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe === undefined) continue;
    probe.timeoutSeconds ??= 1;
    probe.periodSeconds ??= 10;
    probe.successThreshold ??= 1;
    probe.failureThreshold ??= 3;
    defaultHandler(probe);
  }
  defaultHandler(container.lifecycle?.postStart ?? {});
  defaultHandler(container.lifecycle?.preStop ?? {});
}

function defaultHandler(handler: any): void {
  if (handler.httpGet) {
    handler.httpGet.path ??= "/";
    handler.httpGet.scheme ??= "HTTP";
  }
  if (handler.grpc) handler.grpc.service ??= "";
}

/** Is the tag `latest`, or missing? A digest pins the image. */
function latest(image: string): boolean {
  if (image === "" || image.includes("@")) return false;
  const name = image.slice(image.lastIndexOf("/") + 1);
  const colon = name.indexOf(":");
  return colon < 0 || name.slice(colon + 1) === "latest";
}

function defaultVolume(volume: any): void {
  const sources = Object.keys(volume).filter((key) => key !== "name");
  if (sources.length === 0) volume.emptyDir = {};
  if (volume.configMap) volume.configMap.defaultMode ??= DEFAULT_MODE;
  if (volume.secret) volume.secret.defaultMode ??= DEFAULT_MODE;
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= DEFAULT_MODE;
    defaultItems(volume.downwardAPI.items);
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= DEFAULT_MODE;
    for (const source of volume.projected.sources ?? []) {
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
      defaultItems(source.downwardAPI?.items);
    }
  }
  if (volume.hostPath) volume.hostPath.type ??= "";
  if (volume.ephemeral?.volumeClaimTemplate) volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= "Filesystem";
}

function defaultItems(items: any[] | undefined): void {
  for (const item of items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ??= "v1";
}

/** Requests that follow from limits; done for pods only, not for templates. */
export function defaultRequests(spec: any): void {
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const limits = container.resources?.limits;
    if (!limits) continue;
    const requests = { ...container.resources.requests };
    for (const name in limits) requests[name] ??= limits[name];
    container.resources.requests = requests;
  }
}

/** What a server refuses in a pod spec. `claims`: volumes that come from elsewhere (claim templates). */
export function validatePodSpec(spec: any, field: string, claims: string[] = []): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = validateVolumes(spec.volumes ?? [], `${field}.volumes`, errors);
  for (const claim of claims) volumes.add(claim);
  const containers: any[] = spec.containers ?? [];
  if (containers.length === 0) errors.push(required(`${field}.containers`));
  const names = new Set<string>();
  containers.forEach((container, i) => {
    const here = `${field}.containers[${i}]`;
    validateContainer(container, here, volumes, errors);
    if (names.has(container.name)) errors.push(duplicate(`${here}.name`, container.name));
    names.add(container.name);
    validateLifecycle(container, here, errors);
  });
  hostPortConflicts(containers, `${field}.containers`, errors);
  const initNames = new Set<string>();
  (spec.initContainers ?? []).forEach((container: any, i: number) => {
    const here = `${field}.initContainers[${i}]`;
    validateContainer(container, here, volumes, errors);
    if (names.has(container.name) || initNames.has(container.name))
      errors.push(duplicate(`${here}.name`, container.name));
    initNames.add(container.name);
    if (container.restartPolicy === "Always") {
      validateLifecycle(container, here, errors);
      return;
    }
    for (const what of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]) {
      if (container[what] !== undefined) {
        errors.push(
          forbiddenField(`${here}.${what}`, "may not be set for init containers without restartPolicy=Always"),
        );
      }
    }
  });
  if (spec.restartPolicy === undefined) errors.push(required(`${field}.restartPolicy`));
  else errors.push(...oneOf(spec.restartPolicy, ["Always", "OnFailure", "Never"], `${field}.restartPolicy`));
  errors.push(
    ...oneOf(spec.dnsPolicy, ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"], `${field}.dnsPolicy`),
  );
  errors.push(...validateLabels(spec.nodeSelector, `${field}.nodeSelector`));
  (spec.imagePullSecrets ?? []).forEach((s: any, i: number) => {
    if (!s.name) errors.push(required(`${field}.imagePullSecrets[${i}].name`));
  });
  validateAffinity(spec.affinity, `${field}.affinity`, errors);
  if (spec.serviceAccountName) {
    for (const p of subdomainProblems(spec.serviceAccountName)) {
      errors.push(invalidValue(`${field}.serviceAccountName`, spec.serviceAccountName, p));
    }
  }
  if (spec.nodeName) {
    for (const p of subdomainProblems(spec.nodeName)) errors.push(invalidValue(`${field}.nodeName`, spec.nodeName, p));
  }
  if (spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds < 1) {
    errors.push(
      invalidValue(
        `${field}.activeDeadlineSeconds`,
        spec.activeDeadlineSeconds,
        "must be between 1 and 2147483647, inclusive",
      ),
    );
  }
  for (const key of ["hostname", "subdomain"]) {
    if (spec[key]) for (const p of labelProblems(spec[key])) errors.push(invalidValue(`${field}.${key}`, spec[key], p));
  }
  validateTolerations(spec.tolerations ?? [], `${field}.tolerations`, errors);
  (spec.topologySpreadConstraints ?? []).forEach((c: any, i: number) => {
    const here = `${field}.topologySpreadConstraints[${i}]`;
    if (!(c.maxSkew > 0)) errors.push(invalidValue(`${here}.maxSkew`, c.maxSkew, "must be greater than zero"));
    if (!c.topologyKey) errors.push(required(`${here}.topologyKey`, "can not be empty"));
    errors.push(...oneOf(c.whenUnsatisfiable, ["DoNotSchedule", "ScheduleAnyway"], `${here}.whenUnsatisfiable`));
  });
  errors.push(...nonNegative(spec.terminationGracePeriodSeconds, `${field}.terminationGracePeriodSeconds`));
  if (spec.priorityClassName) {
    for (const p of subdomainProblems(spec.priorityClassName)) {
      errors.push(invalidValue(`${field}.priorityClassName`, spec.priorityClassName, p));
    }
  }
  return errors;
}

function validateVolumes(volumes: any[], field: string, errors: FieldError[]): Set<string> {
  const names = new Set<string>();
  volumes.forEach((volume, i) => {
    const here = `${field}[${i}]`;
    const sources = Object.keys(volume).filter((key) => key !== "name");
    if (sources.length > 1) {
      errors.push(forbiddenField(`${here}.${sources[1]}`, "may not specify more than 1 volume type"));
    }
    if (volume.configMap && !volume.configMap.name) errors.push(required(`${here}.configMap.name`));
    if (volume.secret && !volume.secret.secretName) errors.push(required(`${here}.secret.secretName`));
    if (volume.persistentVolumeClaim && !volume.persistentVolumeClaim.claimName) {
      errors.push(required(`${here}.persistentVolumeClaim.claimName`));
    }
    if (volume.hostPath && !volume.hostPath.path) errors.push(required(`${here}.hostPath.path`));
    if (volume.hostPath?.path?.split("/").includes("..")) {
      errors.push(invalidValue(`${here}.hostPath.path`, volume.hostPath.path, "must not contain '..'"));
    }
    for (const source of [volume.configMap, volume.secret]) {
      (source?.items ?? []).forEach((item: any, j: number) => {
        const at = `${here}.${volume.configMap ? "configMap" : "secret"}.items[${j}]`;
        if (!item.key) errors.push(required(`${at}.key`));
        if (!item.path) errors.push(required(`${at}.path`));
      });
    }
    if (!volume.name) errors.push(required(`${here}.name`));
    else {
      const problems = labelProblems(volume.name);
      for (const p of problems) errors.push(invalidValue(`${here}.name`, volume.name, p));
      if (problems.length === 0 && names.has(volume.name)) errors.push(duplicate(`${here}.name`, volume.name));
      names.add(volume.name);
    }
  });
  return names;
}

function validateContainer(container: any, field: string, volumes: Set<string>, errors: FieldError[]): void {
  if (!container.name) errors.push(required(`${field}.name`));
  else for (const p of labelProblems(container.name)) errors.push(invalidValue(`${field}.name`, container.name, p));
  if (!container.image) errors.push(required(`${field}.image`));
  errors.push(
    ...oneOf(
      container.terminationMessagePolicy,
      ["File", "FallbackToLogsOnError"],
      `${field}.terminationMessagePolicy`,
    ),
  );
  validatePorts(container.ports ?? [], `${field}.ports`, errors);
  validateEnv(container.env ?? [], `${field}.env`, errors);
  (container.envFrom ?? []).forEach((from: any, i: number) => {
    const here = `${field}.envFrom[${i}]`;
    const sources = ["configMapRef", "secretRef"].filter((s) => from[s] !== undefined);
    for (const s of sources) if (!from[s].name) errors.push(required(`${here}.${s}.name`));
    if (sources.length === 0) errors.push(invalidValue(here, "", "must specify one of: `configMapRef` or `secretRef`"));
    if (sources.length > 1) errors.push(invalidValue(here, "", "may not have more than one field specified at a time"));
  });
  const mounted = new Set<string>();
  (container.volumeMounts ?? []).forEach((mount: any, i: number) => {
    const here = `${field}.volumeMounts[${i}]`;
    if (!mount.name) errors.push(required(`${here}.name`));
    if (!volumes.has(mount.name)) errors.push(fieldNotFound(`${here}.name`, mount.name ?? ""));
    if (!mount.mountPath) errors.push(required(`${here}.mountPath`));
    if (mounted.has(mount.mountPath)) errors.push(invalidValue(`${here}.mountPath`, mount.mountPath, "must be unique"));
    mounted.add(mount.mountPath);
    if (mount.subPath?.startsWith("/"))
      errors.push(invalidValue(`${here}.subPath`, mount.subPath, "must be a relative path"));
  });
  errors.push(...oneOf(container.imagePullPolicy, ["Always", "IfNotPresent", "Never"], `${field}.imagePullPolicy`));
  validateResources(container.resources, `${field}.resources`, errors);
}

function validatePorts(ports: any[], field: string, errors: FieldError[]): void {
  const names = new Set<string>();
  ports.forEach((port, i) => {
    const here = `${field}[${i}]`;
    if (port.name) {
      const problems = portNameProblems(port.name);
      for (const p of problems) errors.push(invalidValue(`${here}.name`, port.name, p));
      if (problems.length === 0 && names.has(port.name)) errors.push(duplicate(`${here}.name`, port.name));
      names.add(port.name);
    }
    if (!port.containerPort) errors.push(required(`${here}.containerPort`));
    else errors.push(...portNumber(port.containerPort, `${here}.containerPort`));
    if (port.hostPort) errors.push(...portNumber(port.hostPort, `${here}.hostPort`));
    errors.push(...oneOf(port.protocol, ["SCTP", "TCP", "UDP"], `${here}.protocol`));
  });
}

function hostPortConflicts(containers: any[], field: string, errors: FieldError[]): void {
  const taken = new Set<string>();
  containers.forEach((container, i) => {
    (container.ports ?? []).forEach((port: any, j: number) => {
      if (!port.hostPort) return;
      const text = `${port.protocol}/${port.hostIP ?? ""}/${port.hostPort}`;
      if (taken.has(text)) errors.push(duplicate(`${field}[${i}].ports[${j}].hostPort`, text));
      taken.add(text);
    });
  });
}

function validateEnv(env: any[], field: string, errors: FieldError[]): void {
  env.forEach((variable, i) => {
    const here = `${field}[${i}]`;
    if (!variable.name) errors.push(required(`${here}.name`));
    else if (!/^[ -<>-~]+$/.test(variable.name)) {
      errors.push(
        invalidValue(
          `${here}.name`,
          variable.name,
          "a valid environment variable name must consist only of printable ASCII characters other than '='",
        ),
      );
    }
    const from = variable.valueFrom;
    if (from === undefined) return;
    const sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"].filter(
      (s) => from[s] !== undefined,
    );
    for (const s of ["configMapKeyRef", "secretKeyRef"]) {
      if (from[s] === undefined) continue;
      if (!from[s].name) errors.push(required(`${here}.valueFrom.${s}.name`));
      if (!from[s].key) errors.push(required(`${here}.valueFrom.${s}.key`));
    }
    if (from.fieldRef) errors.push(...validateFieldRef(from.fieldRef, `${here}.valueFrom.fieldRef`));
    if (variable.value) {
      if (sources.length > 0)
        errors.push(invalidValue(`${here}.valueFrom`, "", "may not be specified when `value` is not empty"));
    } else if (sources.length === 0) {
      errors.push(
        invalidValue(
          `${here}.valueFrom`,
          "",
          "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
        ),
      );
    } else if (sources.length > 1) {
      errors.push(invalidValue(`${here}.valueFrom`, "", "may not have more than one field specified at a time"));
    }
  });
}

/** Paths that an environment variable may take its value from; all others convert, but are not offered there. */
const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const POD_FIELDS = [
  ...ENV_FIELDS,
  "metadata.annotations",
  "metadata.labels",
  "spec.hostNetwork",
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.nominatedNodeName",
  "status.phase",
];

function validateFieldRef({ fieldPath, apiVersion }: any, field: string): FieldError[] {
  if (!apiVersion) return [required(`${field}.apiVersion`)];
  if (!fieldPath) return [required(`${field}.fieldPath`)];
  if (/^metadata\.(annotations|labels)\['[^']+'\]$/.test(fieldPath)) return [];
  if (!POD_FIELDS.includes(fieldPath)) {
    const why = `error converting fieldPath: field label not supported: ${fieldPath}`;
    return [invalidValue(`${field}.fieldPath`, fieldPath, why)];
  }
  return ENV_FIELDS.includes(fieldPath) ? [] : [notSupported(`${field}.fieldPath`, fieldPath, ENV_FIELDS)];
}

const CONTAINER_RESOURCES = new Set(["cpu", "memory", "ephemeral-storage"]);

function validateResources(resources: any, field: string, errors: FieldError[]): void {
  const check = (list: Record<string, string> | undefined, name: string) => {
    for (const [resource, quantity] of Object.entries(list ?? {})) {
      const here = `${field}.${name}[${resource}]`;
      for (const p of qualifiedNameProblems(resource)) errors.push(invalidValue(here, resource, p));
      if (!resource.includes("/") && !CONTAINER_RESOURCES.has(resource) && !resource.startsWith("hugepages-")) {
        errors.push(invalidValue(here, resource, "must be a standard resource type or fully qualified"));
        errors.push(invalidValue(here, resource, "must be a standard resource for containers"));
      }
      if (compareQuantities(quantity, 0) < 0) errors.push(invalidValue(here, quantity, NON_NEGATIVE));
    }
  };
  check(resources?.limits, "limits");
  check(resources?.requests, "requests");
  for (const [resource, quantity] of Object.entries((resources?.requests ?? {}) as Record<string, string>)) {
    const limit = resources.limits?.[resource];
    if (limit !== undefined && compareQuantities(quantity, limit) > 0) {
      errors.push(
        invalidValue(`${field}.requests`, quantity, `must be less than or equal to ${resource} limit of ${limit}`),
      );
    }
  }
}

function validateLifecycle(container: any, field: string, errors: FieldError[]): void {
  for (const phase of ["postStart", "preStop"]) {
    if (container.lifecycle?.[phase])
      validateHandler(container.lifecycle[phase], `${field}.lifecycle.${phase}`, errors);
  }
  for (const kind of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[kind];
    if (probe === undefined) continue;
    const here = `${field}.${kind}`;
    validateHandler(probe, here, errors);
    for (const key of [
      "initialDelaySeconds",
      "timeoutSeconds",
      "periodSeconds",
      "successThreshold",
      "failureThreshold",
    ]) {
      errors.push(...nonNegative(probe[key], `${here}.${key}`));
    }
    if (kind !== "readinessProbe" && probe.successThreshold !== 1) {
      errors.push(invalidValue(`${here}.successThreshold`, probe.successThreshold, "must be 1"));
    }
  }
}

function validateHandler(handler: any, field: string, errors: FieldError[]): void {
  const kinds = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"].filter((k) => handler[k] !== undefined);
  if (kinds.length === 0) errors.push(required(field, "must specify a handler type"));
  const surplus = (kind: string) => {
    if (kinds.indexOf(kind) > 0)
      errors.push(forbiddenField(`${field}.${kind}`, "may not specify more than 1 handler type"));
    return kinds.indexOf(kind) > 0;
  };
  if (handler.exec && (handler.exec.command ?? []).length === 0) errors.push(required(`${field}.exec.command`));
  if (handler.httpGet && !surplus("httpGet")) {
    if (!handler.httpGet.path) errors.push(required(`${field}.httpGet.path`));
    errors.push(...portNumberOrName(handler.httpGet.port, `${field}.httpGet.port`));
    errors.push(...oneOf(handler.httpGet.scheme, ["HTTP", "HTTPS"], `${field}.httpGet.scheme`));
  }
  if (handler.tcpSocket && !surplus("tcpSocket"))
    errors.push(...portNumberOrName(handler.tcpSocket.port, `${field}.tcpSocket.port`));
  if (handler.grpc && !surplus("grpc")) errors.push(...portNumber(handler.grpc.port, `${field}.grpc.port`));
  if (handler.sleep) surplus("sleep");
}

function validateAffinity(affinity: any, field: string, errors: FieldError[]): void {
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    (affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).forEach((term: any, i: number) => {
      const here = `${field}.${kind}.requiredDuringSchedulingIgnoredDuringExecution[${i}]`;
      errors.push(...validateSelector(term.labelSelector ?? {}, `${here}.labelSelector`));
      if (!term.topologyKey) errors.push(required(`${here}.topologyKey`, "can not be empty"));
    });
  }
  const node = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (node && (node.nodeSelectorTerms ?? []).length === 0) {
    errors.push(
      required(
        `${field}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`,
        "must have at least one node selector term",
      ),
    );
  }
}

function validateTolerations(tolerations: any[], field: string, errors: FieldError[]): void {
  tolerations.forEach((t, i) => {
    const here = `${field}[${i}]`;
    if (t.key) for (const p of qualifiedNameProblems(t.key)) errors.push(invalidValue(`${here}.key`, t.key, p));
    if (!t.key && t.operator !== "Exists") {
      errors.push(
        invalidValue(
          `${here}.operator`,
          t.operator ?? "",
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    if (t.operator === "Exists" && t.value) {
      errors.push(invalidValue(`${here}.operator`, t.value, "value must be empty when `operator` is 'Exists'"));
    }
    if (t.operator && !["Equal", "Exists"].includes(t.operator)) {
      errors.push(notSupported(`${here}.operator`, t.operator, ["Equal", "Exists"]));
    }
    if (t.effect && !["NoSchedule", "PreferNoSchedule", "NoExecute"].includes(t.effect)) {
      errors.push(notSupported(`${here}.effect`, t.effect, ["NoSchedule", "PreferNoSchedule", "NoExecute"]));
    }
  });
}

/** Metadata and spec of a template. */
export function validatePodTemplate(template: any, field: string, claims: string[] = []): FieldError[] {
  return [
    ...validateLabels(template.metadata?.labels, `${field}.labels`),
    ...Object.keys(template.metadata?.annotations ?? {}).flatMap((key) =>
      qualifiedNameProblems(key.toLowerCase()).map((p) => invalidValue(`${field}.annotations`, key, p)),
    ),
    ...validatePodSpec(template.spec ?? {}, `${field}.spec`, claims),
  ];
}
