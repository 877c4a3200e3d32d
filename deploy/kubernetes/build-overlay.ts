import { execa } from 'execa';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from './checks/manifests.ts';

const here = import.meta.dirname;

/** What `kustomize build` makes of an overlay, as it is written and as it is read. @throws ExecaError where it makes nothing */
export async function buildOverlay(
  overlay: string,
): Promise<{ readonly yaml: string; readonly manifests: Manifest[] }> {
  const { stdout: yaml } = await execa('kustomize', ['build', `${here}/overlays/${overlay}`]);
  return { yaml, manifests: parseAllDocuments(yaml).map((document) => document.toJS() as Manifest) };
}
