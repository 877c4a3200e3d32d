/** What the checks read of any manifest; `spec` differs from kind to kind. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Labels;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  /** The priority of a PriorityClass. */
  readonly value?: number;
  readonly spec: unknown;
}

export type Labels = Readonly<Record<string, string>>;

export interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values: string[] }[];
}

export interface ServiceSpec {
  readonly selector: Labels;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string | number }[];
}

type Probe = Partial<Record<'httpGet' | 'tcpSocket', { readonly path?: string; readonly port: string | number }>> & {
  readonly failureThreshold?: number;
  readonly periodSeconds?: number;
};

type SecurityContext = Readonly<Record<string, unknown>>;
type Quantities = Readonly<Record<string, string | number>>;

export interface EnvVariable {
  readonly name: string;
  readonly value?: string;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly EnvVariable[];
  readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string } }[];
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities };
  readonly securityContext?: SecurityContext;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly sizeLimit?: string };
  readonly secret?: { readonly items?: readonly { readonly key: string; readonly path: string }[] };
  readonly configMap?: { readonly name: string };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly securityContext?: SecurityContext;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly topologySpreadConstraints?: readonly { readonly labelSelector: Selector }[];
  readonly priorityClassName?: string;
  readonly affinity?: {
    readonly podAntiAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly unknown[] };
  };
}

interface PodTemplate {
  readonly metadata: { readonly labels: Labels };
  readonly spec: PodSpec;
}

/** A Deployment, StatefulSet or CronJob. */
export interface Workload {
  readonly kind: string;
  readonly name: string;
  /** The labels of its pods. */
  readonly labels: Labels;
  readonly pod: PodSpec;
  readonly replicas?: number | undefined;
  /** How many pods an update adds, or a percentage. */
  readonly maxSurge?: string | number | undefined;
  readonly selector?: Selector | undefined;
}

interface WorkloadSpec {
  readonly replicas?: number;
  readonly strategy?: { readonly rollingUpdate?: { readonly maxSurge?: string | number } };
  readonly selector?: Selector;
  readonly template?: PodTemplate;
  readonly jobTemplate?: { readonly spec: { readonly template: PodTemplate } };
}

export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return manifests.flatMap(({ kind, metadata: { name }, spec }) => {
    const { replicas, strategy, selector, template, jobTemplate } = (spec ?? {}) as WorkloadSpec;
    const maxSurge = strategy?.rollingUpdate?.maxSurge;
    const pod = template ?? jobTemplate?.spec.template;
    return pod ? [{ kind, name, labels: pod.metadata.labels, pod: pod.spec, replicas, maxSurge, selector }] : [];
  });
}

/** Applies `check` to every container, and names the container in each fault. */
export function checkContainers(
  manifests: readonly Manifest[],
  check: (container: Container, workload: Workload) => readonly string[],
): string[] {
  return workloadsOf(manifests).flatMap((workload) =>
    [...(workload.pod.initContainers ?? []), ...workload.pod.containers].flatMap((container) =>
      check(container, workload).map((fault) => `${workload.name}/${container.name}: ${fault}`),
    ),
  );
}

/** The messages whose condition is true. */
export function faultsIf(conditions: Readonly<Record<string, boolean | undefined>>): string[] {
  return Object.keys(conditions).filter((message) => conditions[message]);
}

/** The manifests of one kind. */
export function ofKind<Spec>(manifests: readonly Manifest[], kind: string) {
  return manifests.filter((manifest) => manifest.kind === kind) as (Manifest & { readonly spec: Spec })[];
}

const units: Record<string, number> = {
  '': 1,
  m: 0.001,
  k: 1e3,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
};

/** A quantity of Kubernetes (`250m`, `2Gi`) as a number: cores, or bytes. */
export function quantity(written: string | number | undefined): number {
  const [, digits = '', unit = ''] = /^([\d.]+)([a-zA-Z]*)$/.exec(String(written)) ?? [];
  return Number(digits || Number.NaN) * (units[unit] ?? Number.NaN);
}
