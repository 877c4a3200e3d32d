import { generatedSecretFile, hasSandbox, variableOf } from '@echodrop/client/local-system';
import { choice, httpOrigin, InvalidSettings, readSettings } from '@echodrop/service/env';
import { trustedProxySettings } from '@echodrop/service/forwarded-for';

/** The origin of a trial. */
const trialOrigin = 'http://127.0.0.1:8080';

const settings = {
  ...trustedProxySettings,
  /** 1: a trial with the sandbox provider, on loopback. */
  SANDBOX: choice(['0', '1'], '0'),
  PUBLIC_SITE_URL: httpOrigin(trialOrigin),
};

/** How a container differs from `npm start` with the same variables. */
export interface ContainerSettings {
  /** The variables that `npm start` would have. */
  readonly env: NodeJS.ProcessEnv;
  /** The origin of everything: pages, uploads, and the sandbox. */
  readonly origin: string;
  readonly hasSandbox: boolean;
  /** The paths of uploads, without final slashes. */
  readonly roots: readonly string[];
  /** The proxies before the container's own. */
  readonly trustedProxies: readonly string[];
}

/** Reads what the operator has set. @throws InvalidSettings that says what to set */
export function readContainerSettings(given: NodeJS.ProcessEnv, dataDir: string): ContainerSettings {
  const { SANDBOX, PUBLIC_SITE_URL: origin, TRUSTED_PROXIES: trustedProxies } = readSettings(settings, given);
  const isTrial = SANDBOX === '1';
  const roots = rootsOf(given);
  const faults = isTrial ? trialFaults(given, origin, roots) : [...settingFaults(given), ...rootFaults(roots)];
  if (faults.length > 0) throw new InvalidSettings(faults);
  const uploads = given['UPLOAD_URL'] || `${origin}${roots[0]}`;
  const env = {
    PUBLIC_UPLOAD_URL: uploads,
    UPLOAD_URL: uploads,
    ...(!isTrial &&
      !hasApiKeys(given) && {
        API_KEYS_FILE: generatedSecretFile(dataDir, 'API_KEYS'),
        WEB_UPLOAD_API_KEY: 'web-upload',
      }),
    ...withoutEmptyOrPorts(given),
    PUBLIC_SITE_URL: origin,
    // Only the proxy of the container reaches the services. Platforms set PORT for it.
    TRUSTED_PROXIES: '127.0.0.1',
    GATEWAY_PORT: '8083',
  };
  return { env, origin, hasSandbox: isTrial, roots, trustedProxies };
}

function trialFaults(given: NodeJS.ProcessEnv, origin: string, roots: readonly string[]): string[] {
  const faults = [];
  if (!hasSandbox(given)) faults.push('SANDBOX=1 is a trial with its own identity provider: unset IDENTITY_PROVIDERS');
  if (!/^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(origin))
    faults.push(
      'SANDBOX=1 is a trial for this machine, as everyone knows its credentials: ' +
        `PUBLIC_SITE_URL must be http://127.0.0.1 or http://localhost with the published port, such as ${trialOrigin}`,
    );
  if (roots.join() !== '') faults.push('SANDBOX=1 is a trial whose sandbox has paths of its own: unset BASE_PATHS');
  return faults;
}

// services/site/src/app.ts, and the folders of its pages.
const sitePaths = ['by', 'documentation', 'mine', 'oembed', 'scripts', 'show', 'sign-in', 'upload', '.well-known'];

function rootFaults(roots: readonly string[]): string[] {
  const taken = roots.filter((root) => sitePaths.includes(root.split('/')[1] ?? ''));
  return taken.map((root) => `BASE_PATHS has ${root}, which is a path of the site: use another, such as /api`);
}

function settingFaults(given: NodeJS.ProcessEnv): string[] {
  const missing = [
    !given['PUBLIC_SITE_URL'] && 'Set PUBLIC_SITE_URL to the public address, such as https://media.example',
    hasSandbox(given) &&
      'Set IDENTITY_PROVIDERS to the providers of your users, such as "mastodon https://social.example/api/v1/accounts/verify_credentials"',
  ].filter((fault) => fault !== false);
  if (missing.length === 0) return [];
  return [
    ...missing,
    'docs/host/one-container.md says more. To try it on this machine, set SANDBOX=1 and publish the port as 127.0.0.1:8080:8080',
  ];
}

function hasApiKeys(given: NodeJS.ProcessEnv): boolean {
  const names = ['API_KEYS', 'API_KEYS_FILE'].flatMap((name) => [name, variableOf('gateway', name)]);
  return names.some((name) => given[name]);
}

function rootsOf(given: NodeJS.ProcessEnv): string[] {
  const paths = given[variableOf('gateway', 'BASE_PATHS')] || given['BASE_PATHS'] || '/';
  const roots = paths.split(',').map((path) => path.trim().replace(/^\/+|\/+$/g, ''));
  return [...new Set(roots.map((root) => root && `/${root}`))];
}

// The proxy and deploy/all/is-ready know the ports.
function withoutEmptyOrPorts(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value && !/(^|_)PORT$/.test(name)));
}
