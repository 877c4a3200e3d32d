import { uploadSettings } from '@echodrop/contracts/media-settings';
import { renditionQueueSecret } from '@echodrop/contracts/secret-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { defaultOpsPorts, defaultPorts } from '@echodrop/service/default-ports';
import { choice, httpOrigin, port, readSettings, requiredWhen, type Settings, text } from '@echodrop/service/env';
import { trustedProxySettings } from '@echodrop/service/forwarded-for';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis/redis';
import { securitySettings } from '@echodrop/service/security-txt';
import { apiKey, contactAddress, uploadAddress } from '@echodrop/service/shared-settings';
import { signInProviders } from './sign-in/sign-in-providers.ts';

export const settings = {
  ...processSettings(defaultOpsPorts.site),
  ...queueRedisSettings,
  ...storeSettings,
  ...uploadSettings,
  ...renditionQueueSecret,
  ...securitySettings,
  ...trustedProxySettings,
  PORT: port(defaultPorts.site),
  PUBLIC_SITE_URL: httpOrigin(`http://127.0.0.1:${defaultPorts.site}`).describe("the same as the gateway's"),
  SITE_NAME: text('Echodrop').describe('name on pages, in previews, and at Mastodon instances where people sign in'),
  ABUSE_CONTACT: contactAddress().optional().describe('`https:` or `mailto:` link on every page'),
  ROBOTS: choice(['noindex', 'index'], 'noindex').describe(
    '`index` lets search engines list media pages and renditions',
  ),
  OEMBED_DISCOVERY: choice(['0', '1'], '0').describe(
    '1: pages link their oEmbed address. Mastodon then reads nothing else of the page',
  ),
  WEB_UPLOAD: choice(['0', '1'], '0').describe(
    '1: upload page at `/upload`; with `WEB_SIGN_IN` also `/mine` and `/mine/apps` (`npm start`, `.env.example`: 1)',
  ),
  UPLOAD_URL: requiredWhen('WEB_UPLOAD', '1', uploadAddress()).describe(
    "the gateway's public address with its base path. The gateway's `CORS_ORIGINS` must include the site (`npm start`: the gateway)",
  ),
  WEB_UPLOAD_API_KEY: apiKey()
    .optional()
    .describe("the same as the gateway's. Without it people type a key (`npm start`: `sandbox-web-key`)"),
  WEB_SIGN_IN: signInProviders.describe(
    'JSON array of [providers at which people sign in](sign-in.md) (`npm start`, `.env.example`: the sandbox)',
  ),
};

export type SiteConfig = Settings<typeof settings>;

export function readConfig(env: NodeJS.ProcessEnv): SiteConfig {
  return readSettings(settings, env);
}
