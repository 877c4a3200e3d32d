import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allocatorPackage, allocatorSettings } from '@echodrop/build/allocator';
import { entryOf, nodeFlagsOf } from '@echodrop/build/entry-of';
import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { type ServiceName, serviceConfigs, serviceNames } from './local/services.ts';

const root = join(import.meta.dirname, '..');
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const dockerfile = text('deploy/Dockerfile');
const bakeFile = text('deploy/docker-bake.hcl');
const { version } = JSON.parse(text('package.json'));

await describeWithOpsCheckers('Dockerfiles', ['hadolint'], () => {
  test.each(['deploy/Dockerfile', 'deploy/proxy/Dockerfile'])('hadolint accepts %s', async (path) => {
    const { stdout } = await execa('hadolint', [join(root, path)], { reject: false });
    expect(stdout).toBe('');
  });
});

const images = [...serviceNames, 'admin', 'all'];

test.each(images)('the image of %s has a description, an entry point and ports', (name) => {
  const stage = new RegExp(`^FROM (\\w+) AS for-${name}\\n(.*?)\\n\\n`, 'ms').exec(dockerfile)?.[2];
  const command = ['tini', '--', 'node', ...nodeFlagsOf(name), `built/${name}/main.js`];
  expect(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(stage ?? '')?.[1] ?? '')).toEqual(command);
  const { description } = JSON.parse(readFileSync(join(entryOf(name), '../../package.json'), 'utf8'));
  expect(stage).toContain(`LABEL org.opencontainers.image.description="${description}"`);
  const own: Record<string, number[]> = { admin: [], all: [8080] };
  const ports = own[name] ?? portsOf(name as ServiceName);
  expect(/^EXPOSE (.*)$/m.exec(stage ?? '')?.[1]?.split(' ') ?? []).toEqual(ports.map(String));
  expect(/OPS_PORT=(\d+)/.exec(stage ?? '')?.[1]).toBe(name in own ? undefined : ports.at(-1)?.toString());
});

test('images of services use the allocator of `npm start`', () => {
  const stage = /^FROM plain AS serving\n(.*?)\n\n/ms.exec(dockerfile)?.[1];
  expect(stage).toContain(` ${allocatorPackage} `);
  for (const [name, value] of Object.entries(allocatorSettings))
    expect(stage).toMatch(RegExp(` ${name}=${value}( |$)`, 'm'));
});

test('a release builds every image with the version of package.json', () => {
  const [, names] = /matrix\s*= \{ name = (\[.*?\]) \}/.exec(bakeFile) ?? [];
  expect(JSON.parse(names ?? '').sort()).toEqual(images.toSorted());
  expect(/variable "VERSION".*?default\s*= "(.*?)"/s.exec(bakeFile)?.[1]).toBe(version);
  expect(dockerfile).toContain(`\nARG VERSION=${version}\n`);
  const [, proxyVersion] = /variable "PROXY_VERSION".*?default\s*= "(.*?)"/s.exec(bakeFile) ?? [];
  expect(text('deploy/proxy/Dockerfile')).toContain(`\nARG VERSION=${proxyVersion}\n`);
  expect(text('docker-compose.yml')).toContain(`echodrop/proxy:\${PROXY_VERSION:-${proxyVersion}}`);
});

function portsOf(name: ServiceName): number[] {
  const { settings } = serviceConfigs[name];
  const ports = 'PORT' in settings ? [settings.PORT, settings.OPS_PORT] : [settings.OPS_PORT];
  // An unset setting has its default.
  return ports.map((port) => Number(port.parse(undefined)));
}
