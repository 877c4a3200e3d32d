import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { InvalidSettings } from '@echodrop/service/env';
import { stringify } from 'yaml';
import { buildOverlay, checkManifests, overlayFolder } from '../checks/check-manifests.ts';
import { type OverlayFiles, readClusterSettings } from './check-settings.ts';
import { kustomizationOf } from './kustomization.ts';

/** A line of an env file that `parseEnv` and Compose read alike: nothing, or a setting, and then perhaps a comment. */
const clearLine = /^\s*(?:#.*|(?:export\s+)?\w+\s*=\s*(?:'[^']*'|"[^"\\$]*"|(?!\s*['"`])[^#$]*)\s*(?:(?<= )#.*)?)?$/;
const howToWrite = 'write NAME=value on one line, with single quotes around a value that contains #, $ or other quotes';

/** What `makeOverlay` did: copied the example of the settings, made kustomization.yaml of them, or checked one without settings. */
export type Outcome = 'example' | 'made' | 'checked';

/** Makes kustomization.yaml in `folder` from its settings, and checks the manifests. @throws InvalidSettings, which lists all faults */
export async function makeOverlay(folder: string): Promise<Outcome> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const kustomizations = names.filter((name) => /^(kustomization\.ya?ml|Kustomization)$/.test(name));
  const isHandwritten = kustomizations.length > 0 && !names.includes('settings.env');
  if (!names.includes('settings.env') && !isHandwritten) {
    await copyFile(join(import.meta.dirname, 'settings.example.env'), join(folder, 'settings.env'));
    return 'example';
  }
  if (!isHandwritten) {
    for (const name of kustomizations) await assertUnchanged(join(folder, name));
    await writeKustomization(folder, await readFiles(folder, names));
  }
  const faults = checkManifests((await buildOverlay(folder)).manifests);
  if (faults.length > 0) throw new InvalidSettings(faults);
  return isHandwritten ? 'checked' : 'made';
}

async function writeKustomization(folder: string, files: OverlayFiles): Promise<void> {
  const cluster = readClusterSettings(files);
  const base = await buildOverlay(overlayFolder(cluster.OVERLAY));
  // Kustomize resolves symbolic links before it resolves `..`.
  const path = relative(await realpath(folder), await realpath(resolve(import.meta.dirname, '..')));
  const content = stringify(kustomizationOf(files, cluster, base.manifests, path), { lineWidth: 0 });
  const heading =
    '# `npm run overlay` made this from settings.env. Own changes: docs/host/kubernetes-tasks.md. Checksum:';
  await writeFile(join(folder, 'kustomization.yaml'), `${heading} ${checksumOf(content)}\n${content}`);
}

/** Own changes must not vanish. @throws InvalidSettings if the file is not as `writeKustomization` wrote it */
async function assertUnchanged(path: string): Promise<void> {
  const [, checksum = '', content = ''] = /^#[^\n]* (\w+)\n(.*)$/s.exec(await readFile(path, 'utf8')) ?? [];
  if (checksum === checksumOf(content)) return;
  const advice = 'move them to its subfolder `own`, then delete the file';
  throw new InvalidSettings([`${basename(path)} was edited by hand; to keep the changes, ${advice}`]);
}

function checksumOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function readFiles(folder: string, names: readonly string[]): Promise<OverlayFiles> {
  const entries = names
    .filter((name) => name.endsWith('.env'))
    .map(async (name) => [basename(name, '.env'), await readEnv(join(folder, name))] as const);
  const { settings = {}, ...ofServices } = Object.fromEntries(await Promise.all(entries));
  return { settings, ofServices, hasOwnComponent: names.includes('own') };
}

/** Empty counts as unset, as in services. @throws InvalidSettings for lines that Compose reads otherwise, or not at all */
async function readEnv(path: string): Promise<Record<string, string>> {
  // The decoder removes a byte order mark.
  const content = new TextDecoder().decode(await readFile(path));
  const faults = content
    .split(/\r?\n/)
    .flatMap((line, n) => (clearLine.test(line) ? [] : [`${basename(path)}, line ${n + 1}: ${howToWrite}`]));
  if (faults.length > 0) throw new InvalidSettings(faults);
  const values = parseEnv(content);
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
