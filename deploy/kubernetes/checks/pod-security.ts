import { type Container, containersOf, type Manifest, type PodSpec, type Volume, workloadsOf } from './manifests.ts';

const allowedVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/**
 * Violations of the level `restricted` of the Pod Security Standards (kubernetes.io/docs/concepts/security/pod-security-standards) and of
 * our own rules: the images' user, a read-only root, no token of the API server, no variables about Services.
 */
export function podSecurityFaults(manifests: readonly Manifest[]): string[] {
  return workloadsOf(manifests).flatMap((workload) => [
    ...podFaults(workload.pod).map((fault) => `${workload.name}: ${fault}`),
    ...containersOf(workload).flatMap((container) =>
      containerFaults(container, workload.pod).map((fault) => `${workload.name}/${container.name}: ${fault}`),
    ),
  ]);
}

function podFaults(pod: PodSpec): string[] {
  const { securityContext = {} } = pod;
  return [
    ...(pod.hostNetwork || pod.hostPID || pod.hostIPC ? ["uses the host's namespaces"] : []),
    ...(securityContext.sysctls ? ['sets sysctls'] : []),
    ...(securityContext.runAsUser === 10001 ? [] : ['does not run as 10001']),
    ...(pod.automountServiceAccountToken === false ? [] : ['has a token of the API server']),
    ...(pod.enableServiceLinks === false ? [] : ['has variables about Services']),
    ...(pod.volumes ?? []).flatMap(volumeFaults),
  ];
}

function volumeFaults(volume: Volume): string[] {
  const kinds = Object.keys(volume).filter((key) => key !== 'name');
  return kinds.every((kind) => allowedVolumes.includes(kind)) ? [] : [`the volume ${volume.name} is a ${kinds}`];
}

function containerFaults({ securityContext: own = {}, ports = [] }: Container, pod: PodSpec): string[] {
  const merged = { ...pod.securityContext, ...own };
  const seccomp = merged.seccompProfile?.type ?? '';
  return [
    ...(merged.runAsNonRoot === true ? [] : ['may run as root']),
    ...(merged.runAsUser === 0 ? ['runs as root'] : []),
    ...(own.privileged ? ['is privileged'] : []),
    ...(own.allowPrivilegeEscalation === false ? [] : ['may gain privileges']),
    ...(own.capabilities?.drop?.includes('ALL') && !own.capabilities.add ? [] : ['has capabilities']),
    ...(['RuntimeDefault', 'Localhost'].includes(seccomp) ? [] : ['has no seccomp profile']),
    ...(own.procMount && own.procMount !== 'Default' ? ['unmasks /proc'] : []),
    ...(own.readOnlyRootFilesystem === true ? [] : ['may write to its root']),
    ...(ports.some(({ hostPort }) => hostPort) ? ['takes a port of the host'] : []),
  ];
}
