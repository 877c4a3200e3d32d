import { type Manifest, ofKind, type Workload, workloadsOf } from './manifests.ts';
import { type ContainerSettings, serviceOf, settingsOf } from './settings.ts';

// What runService adds for parts that hang, and the same for a slow node.
const stuckSeconds = 5;
const spareSeconds = 5;
// How long a cluster takes to remove an endpoint from all proxies. Until then they send to the pod, on kept connections too.
const endpointRemovalSeconds = 5;
// What Redis and the store need to write after the last upload.
const writingSeconds = 30;

/** Grace periods that do not nest (docs/operations/restarts.md). */
export function graceFaults(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests);
  const services = workloads.flatMap((workload) => ownTimes(workload, manifests));
  const gateway = services.find(({ workload }) => workload.name === 'gateway');
  return [
    ...services.flatMap(({ workload: { name, pod }, stopsWithin, config }) => [
      ...((pod.terminationGracePeriodSeconds ?? 30) >= stopsWithin + spareSeconds
        ? []
        : [`${name} is killed before it may have stopped`]),
      ...('PORT' in config && Number(config.SHUTDOWN_DELAY_SECONDS) <= endpointRemovalSeconds
        ? [`${name} closes connections that a proxy may still use`]
        : []),
      ...restFaults(name, config),
    ]),
    ...workloads.flatMap((workload) => dataFaults(workload, gateway?.stopsWithin ?? 0)),
    ...ingressFaults(manifests, gateway?.config),
  ];
}

function ownTimes(workload: Workload, manifests: readonly Manifest[]) {
  const [container] = workload.pod.containers;
  if (!container || !serviceOf(container)) return [];
  const { config } = settingsOf(container, workload.pod, manifests);
  const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_GRACE_SECONDS: grace } = config;
  if (delay === undefined || grace === undefined) return [];
  const slept = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
  return [{ workload, config, stopsWithin: slept + delay + grace + stuckSeconds }];
}

// The longest request or job of each, so that a rolling restart cuts none off.
function restFaults(name: string, { SHUTDOWN_GRACE_SECONDS: grace = 0 }: ContainerSettings['config']): string[] {
  const longest: Record<string, number> = { 'auth-verifier': 10, 'probe-worker': 25, gateway: 60 };
  return grace >= (longest[name] ?? 0) ? [] : [`${name} breaks off what it has begun`];
}

function dataFaults({ kind, name, pod }: Workload, gatewayStopsWithin: number): string[] {
  if (kind !== 'StatefulSet') return [];
  const slept = pod.containers[0]?.lifecycle?.preStop?.sleep?.seconds ?? 0;
  return [
    ...(slept >= gatewayStopsWithin ? [] : [`${name} stops before the uploads that need it`]),
    ...((pod.terminationGracePeriodSeconds ?? 30) >= slept + writingSeconds
      ? []
      : [`${name} is killed while it writes`]),
  ];
}

function ingressFaults(manifests: readonly Manifest[], gateway: ContainerSettings['config'] | undefined): string[] {
  const probeSeconds = Number(gateway?.['PROBE_TIMEOUT_MS'] ?? 0) / 1000;
  return ofKind(manifests, 'Ingress')
    .filter(({ metadata }) => metadata.name === 'gateway')
    .flatMap(({ metadata }) => {
      const { annotations = {} } = metadata as { annotations?: Record<string, string> };
      const said = (name: string) => annotations[`nginx.ingress.kubernetes.io/${name}`];
      return [
        // Verification, the probe, the commit and its last try.
        ...(Number(said('proxy-read-timeout')) >= 10 + probeSeconds + 60 ? [] : ['Ingress gateway waits too short']),
        // A gateway whose memory is spent stops reading for a minute.
        ...(Number(said('proxy-send-timeout')) > 60 ? [] : ['Ingress gateway gives up a pause']),
        ...(said('proxy-body-size') === '0' ? [] : ['Ingress gateway refuses in a form of its own']),
        ...(said('proxy-request-buffering') === 'off' ? [] : ['Ingress gateway keeps media on its disk']),
        ...(said('limit-connections') && said('limit-rps') ? [] : ['Ingress gateway does not limit client addresses']),
      ];
    });
}
