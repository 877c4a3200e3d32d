import { type Container, checkContainers, faultsIf, type Manifest, type PodSpec, workloadsOf } from './manifests.ts';

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
 * Finds violations of the level `restricted` of the Pod Security Standards (kubernetes.io/docs/concepts/security/pod-security-standards) and of
 * our own rules: the images' user, a read-only root, no token of the API server, no variables about Services.
 */
export function checkPodSecurity(manifests: readonly Manifest[]): string[] {
  return [
    ...workloadsOf(manifests).flatMap(({ name, pod }) => podFaults(pod).map((fault) => `${name}: ${fault}`)),
    ...checkContainers(manifests, (container, { pod }) => containerFaults(container, pod)),
  ];
}

function podFaults({ securityContext = {}, volumes = [], ...pod }: PodSpec): string[] {
  return [
    ...faultsIf({
      "uses the host's namespaces": Boolean(pod.hostNetwork || pod.hostPID || pod.hostIPC),
      'sets sysctls': Boolean(securityContext.sysctls),
      'does not run as 10001': securityContext.runAsUser !== 10001,
      'has a token of the API server': pod.automountServiceAccountToken !== false,
      'has variables about Services': pod.enableServiceLinks !== false,
    }),
    ...volumes.flatMap(({ name, ...source }) => {
      const kinds = Object.keys(source);
      return kinds.every((kind) => allowedVolumes.includes(kind)) ? [] : [`the volume ${name} is a ${kinds}`];
    }),
  ];
}

function containerFaults({ securityContext: own = {}, ports = [] }: Container, pod: PodSpec): string[] {
  const merged = { ...pod.securityContext, ...own };
  return faultsIf({
    'may run as root': merged.runAsNonRoot !== true,
    'runs as root': merged.runAsUser === 0,
    'is privileged': own.privileged === true,
    'may gain privileges': own.allowPrivilegeEscalation !== false,
    'has capabilities': !own.capabilities?.drop?.includes('ALL') || Boolean(own.capabilities.add),
    'has no seccomp profile': !['RuntimeDefault', 'Localhost'].includes(merged.seccompProfile?.type ?? ''),
    'unmasks /proc': (own.procMount ?? 'Default') !== 'Default',
    'may write to its root': own.readOnlyRootFilesystem !== true,
    'takes a port of the host': ports.some(({ hostPort }) => hostPort),
  });
}
