import { readFileSync } from 'node:fs';
import { type Container, containersOf, type Manifest, workloadsOf } from './manifests.ts';
import { serviceOf } from './settings.ts';

const root = new URL('../../../', import.meta.url);

interface Releases {
  readonly version: string;
  /** The bake file. */
  readonly made: string;
  /** The compose file. */
  readonly composed: string;
}

/**
 * Images without a tag or with one that moves; of ours those that are not built here or are of another release, of others those that compose
 * does not use.
 */
export function imageFaults(manifests: readonly Manifest[]): string[] {
  const text = (path: string) => readFileSync(new URL(path, root), 'utf8');
  const { version } = JSON.parse(text('package.json')) as { version: string };
  const releases = { version, made: text('deploy/docker-bake.hcl'), composed: text('docker-compose.yml') };
  return workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).flatMap((container) => {
      const fault = faultOf(container, releases);
      return fault ? [`${workload.name}: the image ${container.image} ${fault}`] : [];
    }),
  );
}

function faultOf(container: Container, { version, made, composed }: Releases): string | undefined {
  const [, tag] = /:([^/]+)$/.exec(container.image) ?? [];
  const service = serviceOf(container);
  if (!tag || tag === 'latest') return 'has no tag that stays';
  if (service === undefined) return composed.includes(container.image) ? undefined : 'is not the one that compose uses';
  if (tag !== version) return `is not of release ${version}`;
  return made.includes(`"${service}"`) ? undefined : 'not built by this repository';
}
