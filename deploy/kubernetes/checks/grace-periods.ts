import { faultsIf, type Manifest, type PodSpec, type Workload, workloadsOf } from './manifests.ts';
import { serviceOf, settingsOf } from './settings.ts';

// After its grace period, runService waits this long for parts that hang.
const stuckSeconds = 5;
// A reserve for a slow node.
const spareSeconds = 5;
// How long a cluster takes to remove an endpoint from all proxies. Until then they send to the pod, also on keep-alive connections.
const endpointRemovalSeconds = 5;
// Redis and the store need up to this long to write after the last upload.
const flushSeconds = 30;
// The least grace period, in seconds, of services whose usual requests or jobs are as long. Longer uploads and videos may be aborted.
const leastGraceSeconds: Record<string, number> = { 'auth-verifier': 10, 'probe-worker': 25, gateway: 60 };

/** Finds grace periods that do not nest (docs/host/restarts.md). */
export function checkGracePeriods(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests);
  const services = workloads.flatMap((workload) => shutdownOf(workload, manifests));
  return [
    ...services.flatMap(({ name, config, killSeconds, stopSeconds }) =>
      faultsIf({
        [`${name} may be killed before it has stopped`]: killSeconds < stopSeconds + spareSeconds,
        [`${name} closes connections that a proxy may still use`]:
          'PORT' in config && Number(config.SHUTDOWN_DELAY_SECONDS) <= endpointRemovalSeconds,
        [`${name} aborts its longest request or job`]:
          Number(config.SHUTDOWN_GRACE_SECONDS) < (leastGraceSeconds[name] ?? 0),
      }),
    ),
    ...workloads.filter(({ kind }) => kind === 'StatefulSet').flatMap(dataFaults),
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
