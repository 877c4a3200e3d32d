import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { ownImages } from '../../deploy/kubernetes/overlay/kustomization.ts';
import { root, version } from '../containers/compose-system.ts';
import { examplesOf } from '../docs/examples.ts';
import type { Cluster } from './cluster.ts';
import { commandsOf, placesIn } from './page-commands.ts';

const hosts = ['upload.example', 'media.example'];

interface Surroundings {
  /** For the secrets and the overlay. */
  readonly folder: string;
  /** The IP address of Traefik. */
  readonly ingress: string;
  /** The address of a sandbox provider on this machine: `http://IP:PORT`. */
  readonly provider: string;
}

/**
 * Runs the commands of docs/host/kubernetes.md from step 3 on, in a cluster without the namespace `echodrop`. Instead of cert-manager,
 * the test makes the certificates; instead of a registry, the nodes have the images.
 * @returns the response to the upload
 */
export async function followHostPage(
  cluster: Cluster,
  { folder, ingress, provider }: Surroundings,
): Promise<{ readonly id: string; readonly url: string }> {
  const { kubectl, load } = cluster;
  const overlay = join(folder, 'mine');
  const advertised = `${provider}/api/v1/accounts/verify_credentials`;
  const run = await commandsOf('host/kubernetes', cluster, {
    ...placesIn(folder),
    'https://mastodon.example/api/v1/accounts/verify_credentials': advertised,
    'your-access-token': 'sandbox-bearer',
    'curl -K': `curl --silent --show-error --cacert ${folder}/ca.crt ${hosts.map((host) => `--resolve ${host}:443:${ingress}`).join(' ')} -K`,
  });
  const { version: released } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const images = ownImages.map(
    (name) => [`echodrop/${name}:${version}`, `registry.example/echodrop/${name}:${released}`] as const,
  );
  for (const [built, pushed] of images) await execa('docker', ['tag', built, pushed]);
  await load(images.map(([, pushed]) => pushed));

  await run('deploy/make-secrets');
  await makeCertificates(folder, kubectl);
  await run('npm run overlay');
  await writeFile(join(overlay, 'settings.env'), settings(advertised), { flag: 'a' });
  await allowProvider(overlay, new URL(provider));
  await run('npm run overlay');
  await run('rollout status');
  let response = '';
  // Traefik reads endpoints every two seconds; until then it responds with 503.
  await waitUntil('a route to the gateway', async () => {
    response = await run('upload.json');
    return response.startsWith('{');
  });
  return JSON.parse(response);
}

/** What an operator changes in the example. */
function settings(advertised: string): string {
  const signIn = JSON.stringify([{ name: 'Town', profile: 'mastodon', provider: advertised }]);
  return `\nCLUSTER_ISSUER=\nIDENTITY_PROVIDERS=mastodon ${advertised}\nWEB_SIGN_IN=${signIn}\n`;
}

/** The own component and the NetworkPolicy of docs/host/kubernetes-tasks.md, for the provider on this machine. */
async function allowProvider(overlay: string, { hostname, port }: URL): Promise<void> {
  const examples = await examplesOf('host/kubernetes-tasks', { '10.20.30.40': hostname, 'port: 443': `port: ${port}` });
  const find = (word: string) => examples.find(({ code }) => code.includes(word))?.code ?? '';
  await mkdir(join(overlay, 'own'));
  await writeFile(join(overlay, 'own/provider.yaml'), find('verifier-to-own-provider'));
  await writeFile(join(overlay, 'own/kustomization.yaml'), `${find('kind: Component')}resources: [provider.yaml]\n`);
}

/** In place of cert-manager. */
export async function makeCertificates(folder: string, kubectl: Cluster['kubectl']): Promise<void> {
  const key = join(folder, 'ca.key');
  const certificate = join(folder, 'ca.crt');
  const names = `subjectAltName=${hosts.map((host) => `DNS:${host}`).join()}`;
  const subject = ['-subj', '/CN=upload.example', '-addext', names];
  await execa('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    certificate,
    ...subject,
  ]);
  for (const name of ['gateway-tls', 'site-tls'])
    await kubectl('--namespace=echodrop', 'create', 'secret', 'tls', name, `--cert=${certificate}`, `--key=${key}`);
}
