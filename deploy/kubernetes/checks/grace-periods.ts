import { faultsIf, type Manifest, ofKind, type PodSpec, type Workload, workloadsOf } from './manifests.ts';
import { type ContainerSettings, serviceOf, settingsOf } from './settings.ts';

// What runService adds for parts that hang, and the same for a slow node.
const stuckSeconds = 5;
const spareSeconds = 5;
// How long a cluster takes to remove an endpoint from all proxies. Until then they send to the pod, on kept connections too.
const endpointRemovalSeconds = 5;
// What Redis and the store need to write after the last upload.
const flushSeconds = 30;
// The longest request or job, so that a rolling restart aborts none.
const longestSeconds: Record<string, number> = { 'auth-verifier': 10, 'probe-worker': 25, gateway: 60 };

/** Finds grace periods that do not nest (docs/host/restarts.md). */
export function checkGracePeriods(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests);
  const services = workloads.flatMap((workload) => shutdownOf(workload, manifests));
  const gateway = services.find(({ name }) => name === 'gateway');
  return [
    ...services.flatMap(({ name, config, killSeconds, stopSeconds }) =>
      faultsIf({
        [`${name} is killed before it may have stopped`]: killSeconds < stopSeconds + spareSeconds,
        [`${name} closes connections that a proxy may still use`]:
          'PORT' in config && Number(config.SHUTDOWN_DELAY_SECONDS) <= endpointRemovalSeconds,
        [`${name} aborts its longest request or job`]:
          Number(config.SHUTDOWN_GRACE_SECONDS) < (longestSeconds[name] ?? 0),
      }),
    ),
    ...workloads.filter(({ kind }) => kind === 'StatefulSet').flatMap(dataFaults),
    ...ingressFaults(manifests, gateway?.config),
  ];
}

function shutdownOf({ name, pod }: Workload, manifests: readonly Manifest[]) {
  const [container] = pod.containers;
  if (!container || !serviceOf(container)) return [];
  const { config } = settingsOf(container, pod, manifests);
  const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_GRACE_SECONDS: grace } = config;
  if (delay === undefined || grace === undefined) return [];
  const { killSeconds, sleepSeconds } = podTimes(pod);
  return [{ name, config, killSeconds, stopSeconds: sleepSeconds + delay + grace + stuckSeconds }];
}

function podTimes(pod: PodSpec) {
  const sleepSeconds = pod.containers[0]?.lifecycle?.preStop?.sleep?.seconds ?? 0;
  return { sleepSeconds, killSeconds: pod.terminationGracePeriodSeconds ?? 30 };
}

function dataFaults({ name, pod }: Workload): string[] {
  const { sleepSeconds, killSeconds } = podTimes(pod);
  return faultsIf({ [`${name} is killed while it writes`]: killSeconds < sleepSeconds + flushSeconds });
}

function ingressFaults(manifests: readonly Manifest[], gateway: ContainerSettings['config'] | undefined): string[] {
  const ingress = ofKind(manifests, 'Ingress').find(({ metadata }) => metadata.name === 'gateway');
  if (!ingress) return [];
  const probeSeconds = Number(gateway?.['PROBE_TIMEOUT_MS'] ?? 0) / 1000;
  const annotation = (name: string) => ingress.metadata.annotations?.[`nginx.ingress.kubernetes.io/${name}`];
  return faultsIf({
    // Verification, the probe, the commit and its last try.
    'Ingress gateway: proxy-read-timeout is too short': !(
      Number(annotation('proxy-read-timeout')) >=
      10 + probeSeconds + 60
    ),
    // A gateway without free memory stops reading for a minute.
    'Ingress gateway: proxy-send-timeout is too short': !(Number(annotation('proxy-send-timeout')) > 60),
    'Ingress gateway limits bodies itself': annotation('proxy-body-size') !== '0',
    'Ingress gateway buffers media on disk': annotation('proxy-request-buffering') !== 'off',
    'Ingress gateway does not limit client addresses': !annotation('limit-connections') || !annotation('limit-rps'),
  });
}
