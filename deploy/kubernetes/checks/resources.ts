import { type Container, containersOf, type Manifest, quantity, type Workload, workloadsOf } from './manifests.ts';
import { serviceOf, settingsOf } from './settings.ts';

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

// What a process takes besides. Measured: a gateway with 1000 uploads at once and a budget of 256 MiB had 513 MiB resident in all.
const gatewayItself = 512 * MiB;
const workerItself = 768 * MiB;
// docs/media.md, "Limits".
const ffprobeBytes = GiB;
const renditionBytes = 4 * GiB;
const videoBytes = 2 * GiB;
const mediaBytes = 512 * MiB;

/** Containers without requests or limits, and limits below what the settings let a process take. */
export function resourceFaults(manifests: readonly Manifest[]): string[] {
  return workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).flatMap((container) => [
      ...boundFaults(container).map((fault) => `${workload.name}/${container.name}: ${fault}`),
      ...memoryFaults(container, workload, manifests),
      ...scratchFaults(container, workload, manifests),
    ]),
  );
}

function boundFaults({ resources: { requests = {}, limits = {} } = {} }: Container): string[] {
  return ['cpu', 'memory', 'ephemeral-storage'].flatMap((each) =>
    quantity(requests[each]) <= quantity(limits[each])
      ? []
      : [`${each} is not requested, not limited, or less than requested`],
  );
}

function memoryFaults(container: Container, { name, pod }: Workload, manifests: readonly Manifest[]): string[] {
  const { config } = settingsOf(container, pod, manifests);
  const jobs = Number(config['CONCURRENCY']);
  const videos = Number(config['FILM_CONCURRENCY']);
  const slow = Number(config['SLOW_CONCURRENCY']);
  const needs: Record<string, number> = {
    gateway: gatewayItself + Number(config['UPLOAD_BUFFER_BYTES']) + Number(config['UNVERIFIED_BUFFER_BYTES']),
    'probe-worker': workerItself + videos * ffprobeBytes,
    'rendition-worker': workerItself + (jobs + 2 * videos + slow) * renditionBytes,
  };
  const needed = needs[serviceOf(container) ?? ''] ?? 2 * maxmemory(container);
  const limit = quantity(container.resources?.limits?.['memory']);
  return limit < needed ? [`${name}: a limit of ${limit / MiB} MiB is below the ${needed / MiB} that it may take`] : [];
}

// For Redis, which copies what it changes while it rewrites its log.
function maxmemory({ command = [] }: Container): number {
  return MiB * Number(/^--maxmemory\n(\d+)mb$/m.exec(command.join('\n'))?.[1] ?? 0);
}

function scratchFaults(container: Container, { name, pod }: Workload, manifests: readonly Manifest[]): string[] {
  if (serviceOf(container) !== 'rendition-worker') return [];
  const { config } = settingsOf(container, pod, manifests);
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === config['SCRATCH_DIR']);
  const size = quantity(pod.volumes?.find((volume) => volume.name === mount?.name)?.emptyDir?.sizeLimit);
  const largest = Math.max(mediaBytes, ...manifests.map(({ data }) => Number(data?.['MAX_MEDIA_BYTES'] ?? 0)));
  const videos = 2 * Number(config['FILM_CONCURRENCY']) + Number(config['SLOW_CONCURRENCY']);
  const needed = 2 * largest * (Number(config['CONCURRENCY']) + videos) + videos * videoBytes;
  const disk = quantity(container.resources?.limits?.['ephemeral-storage']);
  return size >= needed && disk >= size ? [] : [`${name}: scratch is too small for ${needed / MiB} MiB`];
}
