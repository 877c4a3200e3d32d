import { videosBeside } from '../../../services/probe-worker/src/config.ts';
import { jobsAtOnce } from '../../../services/rendition-worker/src/config.ts';
import { type Container, checkContainers, type Manifest, quantity, type Workload } from './manifests.ts';
import { serviceOf, settingsOf } from './settings.ts';

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

// The process itself. Measured: a gateway with 1000 concurrent uploads and a budget of 256 MiB had 513 MiB resident in all.
const gatewayBytes = 512 * MiB;
const workerBytes = 768 * MiB;
// docs/reference/media.md, "Limits".
const ffprobeBytes = GiB;
const renditionBytes = 4 * GiB;
const videoBytes = 2 * GiB;
const mediaBytes = 512 * MiB;

/** Finds containers without requests or limits, and limits below what the settings let a process take. */
export function checkResources(manifests: readonly Manifest[]): string[] {
  return checkContainers(manifests, (container, workload) => [
    ...requestFaults(container),
    ...memoryFaults(container, workload, manifests),
    ...scratchFaults(container, workload, manifests),
  ]);
}

function requestFaults({ resources: { requests = {}, limits = {} } = {} }: Container): string[] {
  return ['cpu', 'memory', 'ephemeral-storage']
    .filter((name) => !(quantity(requests[name]) <= quantity(limits[name])))
    .map((name) => `${name} is not requested, not limited, or less than requested`);
}

function memoryFaults(container: Container, { pod }: Workload, manifests: readonly Manifest[]): string[] {
  const { config } = settingsOf(container, pod, manifests);
  const concurrency = Number(config['CONCURRENCY']);
  const { pictureConcurrency, videoConcurrency, slowConcurrency } = jobsAtOnce(concurrency);
  const needs: Record<string, number> = {
    gateway: gatewayBytes + 1.25 * Number(config['UPLOAD_BUFFER_BYTES']),
    'probe-worker': workerBytes + videosBeside(concurrency) * ffprobeBytes,
    'rendition-worker': workerBytes + (pictureConcurrency + videoConcurrency + slowConcurrency) * renditionBytes,
  };
  // Redis copies what changes while it rewrites its log.
  const [, maxmemory = 0] = /^--maxmemory\n(\d+)mb$/m.exec((container.args ?? []).join('\n')) ?? [];
  const needed = needs[serviceOf(container) ?? ''] ?? 2 * MiB * Number(maxmemory);
  const limit = quantity(container.resources?.limits?.['memory']);
  return limit < needed ? [`a limit of ${limit / MiB} MiB is below the ${needed / MiB} that it may take`] : [];
}

function scratchFaults(container: Container, { pod }: Workload, manifests: readonly Manifest[]): string[] {
  if (serviceOf(container) !== 'rendition-worker') return [];
  const { config } = settingsOf(container, pod, manifests);
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === config['SCRATCH_DIR']);
  const size = quantity(pod.volumes?.find((volume) => volume.name === mount?.name)?.emptyDir?.sizeLimit);
  const largest = Math.max(mediaBytes, ...manifests.map(({ data }) => Number(data?.['MAX_MEDIA_BYTES'] ?? 0)));
  const { pictureConcurrency, videoConcurrency, slowConcurrency } = jobsAtOnce(Number(config['CONCURRENCY']));
  const videos = videoConcurrency + slowConcurrency;
  const needed = 2 * largest * (pictureConcurrency + videos) + videos * videoBytes;
  const disk = quantity(container.resources?.limits?.['ephemeral-storage']);
  return size >= needed && disk >= size ? [] : [`scratch is too small for ${needed / MiB} MiB`];
}
