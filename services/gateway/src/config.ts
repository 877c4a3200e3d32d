import { mediaSettings, uploadSettings } from '@echodrop/contracts/media-settings';
import { probeQueueSecret, renditionQueueSecret, verifierSecret } from '@echodrop/contracts/secret-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { defaultOpsPorts, defaultPorts } from '@echodrop/service/default-ports';
import {
  choice,
  commaSeparated,
  httpAddress,
  httpOrigin,
  port,
  readSettings,
  secret,
  wholeNumber,
} from '@echodrop/service/env';
import { trustedProxySettings } from '@echodrop/service/forwarded-for';
import { processSettings } from '@echodrop/service/process-settings';
import { cacheRedisSettings, queueRedisSettings } from '@echodrop/service/redis/redis';
import { securitySettings } from '@echodrop/service/security-txt';
import { apiKey, endsInFiles, uploadAddress } from '@echodrop/service/shared-settings';

const MiB = 1024 * 1024;

/** How long the gateway waits for a verification: longer than the verifier's limit for a provider. */
export const verificationDeadlineMs = 10_000;
/** The longest time of a command to the cache Redis. An upload whose command takes longer is admitted without rate limiting. */
export const limitsTimeoutMs = 500;

function isPath(text: string): boolean {
  return /^\/(?:[\w.~-]+(?:\/[\w.~-]+)*\/?)?$/.test(text) && URL.parse(text, 'http://a')?.pathname === text;
}

export const settings = {
  ...processSettings(defaultOpsPorts.gateway),
  ...queueRedisSettings,
  ...cacheRedisSettings,
  ...storeSettings,
  ...mediaSettings,
  ...uploadSettings,
  ...verifierSecret,
  ...probeQueueSecret,
  ...renditionQueueSecret,
  ...securitySettings,
  ...trustedProxySettings,
  PORT: port(defaultPorts.gateway),
  PUBLIC_SITE_URL: httpOrigin(`http://127.0.0.1:${defaultPorts.site}`).describe(
    "public address of the site: its own host, no path. A record's `url` is this, a slash and the id",
  ),
  PUBLIC_UPLOAD_URL: uploadAddress()
    .optional()
    .describe('public address with its base path; makes `Location` absolute'),
  VERIFIER_URL: httpAddress(`http://127.0.0.1:${defaultPorts['auth-verifier']}`).describe('URL of the auth-verifier'),
  API_KEYS: secret().describe('comma-separated `key` or `name=key` (`npm start`: `sandbox-key`)'),
  WEB_UPLOAD_API_KEY: apiKey()
    .optional()
    .describe("public API key of the site's pages, named `web-upload` (`npm start`: `sandbox-web-key`)"),
  BASE_PATHS: commaSeparated('/')
    .refine(
      (paths) => paths.length > 0 && paths.every(isPath),
      'must be paths such as /api, of letters, digits and . _ ~ - /',
    )
    .refine((paths) => !paths.some(endsInFiles), 'must not end in /files')
    .describe('comma-separated paths; `/1/` and `/2/` are below each. None ends in `/files`'),
  MAX_CONCURRENT_UPLOADS: wholeNumber({ default: 1000, min: 1 }).describe(
    'uploads at once in one gateway, then 503. A client IP address (IPv6: /56) gets a tenth for version 1 uploads before verification, then 429',
  ),
  MAX_CONCURRENT_UPLOADS_PER_USER: wholeNumber({ default: 100, min: 1 }).describe(
    'uploads at once per user in one gateway, then 429. Also 429 if the user has more than there are slots free',
  ),
  UPLOADS_PER_MINUTE_PER_USER: wholeNumber({ default: 120 }).describe(
    'uploads over all gateways that share a cache Redis, then 429; 0: no limit. Raise it while a user imports an archive',
  ),
  UPLOADS_PER_MINUTE_PER_KEY: wholeNumber({ default: 0 }).describe('the same per API key'),
  UPLOAD_BUFFER_BYTES: wholeNumber({ default: 256 * MiB, min: 8 * MiB }).describe(
    'memory for all uploads together. A quarter of it in addition is for version 1 media sent before its credentials; larger media gets 413',
  ),
  MAX_UPLOAD_SECONDS: wholeNumber({ default: 6 * 3600, min: 1, max: 12 * 3600 }).describe('longest upload'),
  PROBE_TIMEOUT_MS: wholeNumber({ default: 25_000, min: 1000, max: 600_000 }).describe(
    'how long an upload waits for its probe, then 503. If the oldest waiting photo (or video) has waited half of it, ' +
      'new photos (or videos) that need a probe-worker get 503 `overloaded`',
  ),
  CORS_ORIGINS: commaSeparated('')
    .refine(
      (origins) => origins.every((entry) => URL.canParse(entry) && new URL(entry).origin === entry),
      'must be origins (https://media.example), without a path',
    )
    .describe('comma-separated origins whose pages may upload (`npm start`: the site)'),
  CLIENT_COMPATIBILITY: choice(['strict', 'historic'], 'strict').describe(
    '`historic` [accepts what old clients leave out](interface.md#old-clients)',
  ),
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
