import { isDeepStrictEqual } from 'node:util';
import { checkContainers, faultsIf, type Manifest, type PodSpec, workloadsOf } from './manifests.ts';

// Of every pod and every container: the level `restricted` of the Pod Security Standards, which the namespace enforces
// (kubernetes.io/docs/concepts/security/pod-security-standards), and our own rules: the images' user and a read-only root.
const podContext = {
  runAsNonRoot: true,
  runAsUser: 10001,
  runAsGroup: 10001,
  fsGroup: 10001,
  seccompProfile: { type: 'RuntimeDefault' },
};
const containerContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const volumeKinds = ['configMap', 'emptyDir', 'persistentVolumeClaim', 'secret'];

/** Finds other security contexts, access to the host, a token of the API server, and variables about Services. */
export function checkPodSecurity(manifests: readonly Manifest[]): string[] {
  return [
    ...workloadsOf(manifests).flatMap(({ name, pod }) => podFaults(pod).map((fault) => `${name}: ${fault}`)),
    ...checkContainers(manifests, ({ securityContext, ports = [] }) =>
      faultsIf({
        'has another security context': !isDeepStrictEqual(securityContext, containerContext),
        'takes a port of the host': ports.some(({ hostPort }) => hostPort),
      }),
    ),
  ];
}

function podFaults({ securityContext = {}, volumes = [], ...pod }: PodSpec): string[] {
  const { fsGroupChangePolicy: _, ...context } = securityContext;
  return [
    ...faultsIf({
      'has another security context': !isDeepStrictEqual(context, podContext),
      "uses the host's namespaces": Boolean(pod.hostNetwork || pod.hostPID || pod.hostIPC),
      'has a token of the API server': pod.automountServiceAccountToken !== false,
      'has variables about Services': pod.enableServiceLinks !== false,
    }),
    ...volumes.flatMap(({ name, ...source }) => {
      const kinds = Object.keys(source);
      return kinds.every((kind) => volumeKinds.includes(kind)) ? [] : [`the volume ${name} is a ${kinds}`];
    }),
  ];
}
