import { readFileSync } from 'node:fs';
import { checkContainers, type Manifest } from './manifests.ts';
import { serviceOf } from './settings.ts';

/** Finds images of ours that are of another release, and images of others that Compose does not use. */
export function checkImages(manifests: readonly Manifest[]): string[] {
  const [packageJson = '', composeFile = ''] = ['package.json', 'docker-compose.yml'].map((path) =>
    readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'),
  );
  const { version } = JSON.parse(packageJson) as { version: string };
  return checkContainers(manifests, (container) => {
    const { image } = container;
    if (!serviceOf(container))
      return composeFile.includes(` ${image}\n`) ? [] : [`the image ${image} is not the one that Compose uses`];
    return image.endsWith(`:${version}`) ? [] : [`the image ${image} is not of release ${version}`];
  });
}
