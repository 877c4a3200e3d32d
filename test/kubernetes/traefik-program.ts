import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { root } from '../containers/compose-system.ts';
import { goModule } from './go-modules.ts';

const version = '3.7.13';
const lego = 'github.com/go-acme/lego/v5';
const digest = 'github.com/abbot/go-http-auth';

export const traefikModule = `github.com/traefik/traefik/v3@v${version}`;

/**
 * Builds Traefik from its Go modules, once: one to ten minutes. The build lacks what the Go proxy does not have: the DNS providers of ACME,
 * a fork for digest authentication, and an empty module for extensions.
 * @returns the program
 */
export async function buildTraefik(): Promise<string> {
  const folder = join(root, `node_modules/.cache/traefik-${version}`);
  const program = join(folder, 'traefik');
  if (existsSync(program)) return program;
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'ext'), { recursive: true });
  const source = await goModule(traefikModule);
  const goMod = await readFile(join(source, 'go.mod'), 'utf8');
  const versionOf = (module: string) => new RegExp(`^\\t${module} (\\S+)`, 'm').exec(goMod)?.[1];
  await copy(`${lego}@${versionOf(lego)}`, join(folder, 'lego'));
  await copy(`${digest}@v0.4.1-0.20220112235402-e1cee1c72f2f`, join(folder, 'digest'));
  await writeFile(join(folder, 'lego/providers/dns/zz_gen_dns_providers.go'), noDnsProviders);
  await writeFile(join(folder, 'digest/stale.go'), staleDigest);
  await writeFile(join(folder, 'ext/ext.go'), 'package ext\n\ntype HTTP struct{}\n\ntype Router struct{}\n');
  await writeFile(join(folder, 'ext/go.mod'), 'module github.com/traefik/traefik/dynamic/ext\n');
  const replaced = goMod
    .replace(/^\tgithub.com\/abbot\/go-http-auth => .*$/m, `\t${digest} => ${join(folder, 'digest')}`)
    .replace('=> ./pkg/config/dynamic/ext', `=> ${join(folder, 'ext')}`);
  await writeFile(join(folder, 'go.mod'), `${replaced}\nreplace ${lego} => ${join(folder, 'lego')}\n`);
  await cp(join(source, 'go.sum'), join(folder, 'go.sum'));
  await chmod(join(folder, 'go.sum'), 0o644);
  const built = `${program}.new`;
  await execa(
    'go',
    ['build', `-modfile=${folder}/go.mod`, '-trimpath', '-ldflags=-s -w', '-o', built, './cmd/traefik'],
    {
      cwd: source,
      env: { GOWORK: 'off', CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false' },
      timeout: 30 * 60_000,
    },
  );
  await rename(built, program);
  return program;
}

async function copy(module: string, folder: string): Promise<void> {
  // Modules are read-only.
  await execa('cp', ['--recursive', '--no-preserve=mode', await goModule(module), folder]);
}

const noDnsProviders = `package dns

import (
	"errors"

	"github.com/go-acme/lego/v5/challenge"
)

func NewDNSChallengeProviderByName(name string) (challenge.Provider, error) {
	return nil, errors.New("this build has no DNS providers")
}
`;

const staleDigest = `package auth

import "net/http"

func (da *DigestAuth) RequireAuthStale(w http.ResponseWriter, r *http.Request) { da.RequireAuth(w, r) }
`;
