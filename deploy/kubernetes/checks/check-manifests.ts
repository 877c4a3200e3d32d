import { resolve } from 'node:path';
import { type ExecaError, execa } from 'execa';
import { parseAllDocuments } from 'yaml';
import { checkGracePeriods } from './grace-periods.ts';
import { checkImages } from './images.ts';
import type { Manifest } from './manifests.ts';
import { checkResources } from './resources.ts';
import { checkSettings } from './settings.ts';

const checks = [checkSettings, checkResources, checkGracePeriods, checkImages];

/** Returns all faults in the manifests of one overlay, a sentence each. */
export function checkManifests(manifests: readonly Manifest[]): string[] {
  return checks.flatMap((check) => check(manifests));
}

/** Builds an overlay with kustomize, or with the one in kubectl. @throws ExecaError if the build fails, or if there is neither */
export async function buildOverlay(folder: string): Promise<{ readonly yaml: string; readonly manifests: Manifest[] }> {
  const { stdout: yaml } = await execa('kustomize', ['build', folder]).catch((error: ExecaError) => {
    if (error.code !== 'ENOENT') throw error;
    return execa('kubectl', ['kustomize', folder]);
  });
  return { yaml, manifests: parseAllDocuments(yaml).map((document) => document.toJS() as Manifest) };
}

/** The folder of an overlay of this repository. */
export function overlayFolder(name: string): string {
  return resolve(import.meta.dirname, '../overlays', name);
}
