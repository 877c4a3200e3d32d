import { readFileSync } from 'node:fs';
import { checkContainers, type Manifest } from './manifests.ts';
import { serviceOf } from './settings.ts';

/**
 * Finds images without a tag or with one that moves. Of ours, finds those that are not built here or are of another release; of
 * others, those that Compose does not use.
 */
export function checkImages(manifests: readonly Manifest[]): string[] {
  const [packageJson = '', bakeFile = '', composeFile = ''] = [
    'package.json',
    'deploy/docker-bake.hcl',
    'docker-compose.yml',
  ].map((path) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));
  const { version } = JSON.parse(packageJson) as { version: string };
  const faultOf = (image: string, service: string | undefined) => {
    const [, tag] = /:([^/]+)$/.exec(image) ?? [];
    if (!tag || tag === 'latest') return 'has no fixed tag';
    if (!service) return composeFile.includes(image) ? undefined : 'is not the one that Compose uses';
    if (tag !== version) return `is not of release ${version}`;
    return bakeFile.includes(`"${service}"`) ? undefined : 'is not built by this repository';
  };
  return checkContainers(manifests, (container) => {
    const fault = faultOf(container.image, serviceOf(container));
    return fault ? [`the image ${container.image} ${fault}`] : [];
  });
}
