/** Kinds that need little beyond their schema: a word on how they are written, and the columns that they are shown in. */
import type { KubeObject } from "../objects.js";
import { age, containerCells, labelText } from "./print.js";
import { AGE_COLUMN, type Column, integer, type KindRules, NAME_COLUMN, text } from "./rules.js";

const boolean = (name: string): Column => ({ name, type: "boolean" });

/** A kind shown by name, the given columns, and age. */
function shown(columns: readonly Column[], cells: (object: KubeObject) => unknown[]): KindRules {
  return {
    columns: [NAME_COLUMN, ...columns, AGE_COLUMN],
    row: (object, now) => [object.metadata.name, ...cells(object), age(object, now)],
  };
}

const webhooks: KindRules = {
  generation: "spec",
  conditionalUpdate: true,
  ...shown([integer("Webhooks")], (o) => [(o.webhooks ?? []).length]),
};
const CSI: KindRules = { conditionalUpdate: true, returnsDeleted: true };

function tokenAudiences(object: KubeObject): string {
  const audiences: string[] = (object.spec?.tokenRequests ?? []).map((t: any) => t.audience ?? "");
  return audiences.length === 0 ? "<unset>" : audiences.join(",");
}

function claimState({ metadata, status = {} }: KubeObject): string {
  const states = [
    ...(metadata.deletionTimestamp ? ["deleted"] : []),
    ...(status.allocation ? ["allocated"] : []),
    ...((status.reservedFor ?? []).length > 0 ? ["reserved"] : []),
  ];
  return states.length === 0 ? "pending" : states.join(",");
}

/** Nominal concurrency and queuing of a priority level; what does not apply is `<none>`. */
function priorityLevel({ spec = {} }: KubeObject): unknown[] {
  const limited = spec.limited;
  const shares = limited?.nominalConcurrencyShares ?? spec.exempt?.nominalConcurrencyShares ?? "<none>";
  const queuing = limited?.limitResponse?.queuing;
  return [
    spec.type,
    shares,
    queuing?.queues ?? "<none>",
    queuing?.handSize ?? "<none>",
    queuing?.queueLengthLimit ?? "<none>",
  ];
}

export const PLAIN: Record<string, KindRules> = {
  podtemplates: {
    generation: "spec",
    returnsDeleted: true,
    columns: [NAME_COLUMN, text("Containers"), text("Images"), text("Pod Labels")],
    row: (object) => [
      object.metadata.name,
      ...containerCells(object.template?.spec?.containers),
      labelText(object.template?.metadata?.labels),
    ],
  },
  componentstatuses: {
    warning: "v1 ComponentStatus is deprecated in v1.19+",
    columns: [NAME_COLUMN, text("Status"), text("Message"), text("Error")],
    row: (object) => {
      const healthy = (object.conditions ?? []).find((c: any) => c.type === "Healthy");
      const status = healthy?.status === "True" ? "Healthy" : healthy?.status === "False" ? "Unhealthy" : "Unknown";
      return [object.metadata.name, status, healthy?.message ?? "", healthy?.error ?? ""];
    },
  },
  "flowschemas.flowcontrol.apiserver.k8s.io": {
    generation: "spec",
    columns: [
      NAME_COLUMN,
      text("PriorityLevel"),
      text("MatchingPrecedence"),
      text("DistinguisherMethod"),
      AGE_COLUMN,
      text("MissingPL"),
    ],
    row: (object, now) => [
      object.metadata.name,
      object.spec?.priorityLevelConfiguration?.name,
      object.spec?.matchingPrecedence,
      object.spec?.distinguisherMethod?.type ?? "<none>",
      age(object, now),
      (object.status?.conditions ?? []).find((c: any) => c.type === "Dangling")?.status ?? "?",
    ],
  },
  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {
    generation: "spec",
    ...shown(
      [text("Type"), text("NominalConcurrencyShares"), text("Queues"), text("HandSize"), text("QueueLengthLimit")],
      priorityLevel,
    ),
  },
  "mutatingwebhookconfigurations.admissionregistration.k8s.io": webhooks,
  "validatingwebhookconfigurations.admissionregistration.k8s.io": webhooks,
  "validatingadmissionpolicies.admissionregistration.k8s.io": {
    generation: "spec",
    conditionalUpdate: true,
    ...shown([integer("Validations"), text("ParamKind")], ({ spec = {} }) => [
      (spec.validations ?? []).length,
      spec.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : "<unset>",
    ]),
  },
  "validatingadmissionpolicybindings.admissionregistration.k8s.io": {
    generation: "spec",
    conditionalUpdate: true,
    ...shown([text("PolicyName"), text("ParamRef")], ({ spec = {} }) => {
      const ref = spec.paramRef;
      const place = ref?.namespace ? `${ref.namespace}/` : "*/";
      return [spec.policyName, ref ? `${place}${ref.name ?? "*"}` : "<unset>"];
    }),
  },
  "csidrivers.storage.k8s.io": {
    ...CSI,
    ...shown(
      [
        boolean("AttachRequired"),
        boolean("PodInfoOnMount"),
        boolean("StorageCapacity"),
        text("TokenRequests"),
        boolean("RequiresRepublish"),
        text("Modes"),
      ],
      (object) => [
        object.spec?.attachRequired ?? true,
        object.spec?.podInfoOnMount ?? false,
        object.spec?.storageCapacity ?? false,
        tokenAudiences(object),
        object.spec?.requiresRepublish ?? false,
        (object.spec?.volumeLifecycleModes ?? []).join(",") || "<none>",
      ],
    ),
  },
  "csinodes.storage.k8s.io": {
    ...CSI,
    ...shown([integer("Drivers")], (o) => [(o.spec?.drivers ?? []).length]),
  },
  "volumeattachments.storage.k8s.io": {
    ...CSI,
    ...shown([{ ...text("Attacher"), format: "name" }, text("PV"), text("Node"), boolean("Attached")], (o) => [
      o.spec?.attacher,
      o.spec?.source?.persistentVolumeName ?? "",
      o.spec?.nodeName,
      o.status?.attached ?? false,
    ]),
  },
  "csistoragecapacities.storage.k8s.io": { conditionalUpdate: true },
  "volumeattributesclasses.storage.k8s.io": {
    returnsDeleted: true,
    ...shown([text("DriverName")], (o) => [o.driverName]),
  },
  "resourceclaims.resource.k8s.io": { returnsDeleted: true, ...shown([text("State")], (o) => [claimState(o)]) },
  "resourceclaimtemplates.resource.k8s.io": { returnsDeleted: true, ...shown([], () => []) },
  "resourceslices.resource.k8s.io": {
    generation: "spec",
    returnsDeleted: true,
    ...shown([text("Node"), text("Driver"), text("Pool")], ({ spec = {} }) => [
      spec.nodeName ?? (spec.allNodes ? "<all>" : "<some>"),
      spec.driver,
      spec.pool?.name,
    ]),
  },
  "deviceclasses.resource.k8s.io": { generation: "spec", returnsDeleted: true, ...shown([], () => []) },
  "apiservices.apiregistration.k8s.io": shown([text("Service"), text("Available")], ({ spec = {}, status = {} }) => {
    const service = spec.service ? `${spec.service.namespace}/${spec.service.name}` : "Local";
    const available = (status.conditions ?? []).find((c: any) => c.type === "Available");
    const state = available === undefined ? "Unknown" : available.status;
    return [service, available?.status === "True" ? state : `${state} (${available?.reason ?? ""})`];
  }),
  "ipaddresses.networking.k8s.io": {
    columns: [NAME_COLUMN, text("ParentRef")],
    row: ({ metadata, spec = {} }) => {
      const ref = spec.parentRef ?? {};
      const place = [ref.resource, ref.group].filter(Boolean).join(".");
      return [metadata.name, [place, ref.namespace, ref.name].filter(Boolean).join("/")];
    },
  },
  "servicecidrs.networking.k8s.io": shown([text("CIDRs")], (o) => [(o.spec?.cidrs ?? []).join(",")]),
};
