import { isIP } from 'node:net';
import { mediaSettings, uploadSettings } from '@echodrop/media/media-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { apiKey } from '@echodrop/service/api-key';
import {
  choice,
  commaSeparated,
  httpAddress,
  httpOrigin,
  port,
  readSettings,
  rotatedSecret,
  secret,
  wholeNumber,
} from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { cacheRedisSettings, queueRedisSettings } from '@echodrop/service/redis/redis';

const MiB = 1024 * 1024;

const settings = {
  ...processSettings(9080),
  ...queueRedisSettings,
  ...cacheRedisSettings,
  ...storeSettings,
  ...mediaSettings,
  ...uploadSettings,
  PORT: port(8080),
  /** The site's address: `url` of a record is this, a slash and the id. */
  PUBLIC_SITE_URL: httpOrigin('http://127.0.0.1:8081'),
  VERIFIER_URL: httpAddress('http://127.0.0.1:8082'),
  VERIFIER_SECRET: rotatedSecret({ minLength: 16 }),
  /** Each seals jobs and replies, and is known to the clients and workers of its queues. */
  PROBE_QUEUE_SECRET: rotatedSecret({ minLength: 16 }),
  RENDITION_QUEUE_SECRET: rotatedSecret({ minLength: 16 }),
  /** Comma-separated `key` or `name=key`. */
  API_KEYS: secret(),
  /** One more key, of the site's pages; the same as the site's setting. Public. */
  WEB_UPLOAD_API_KEY: apiKey().optional(),
  /** The paths above `/1/` and `/2/`. */
  BASE_PATHS: commaSeparated('/'),
  /** In this process, from the first header to the response. */
  MAX_CONCURRENT_UPLOADS: wholeNumber({ default: 1000, min: 1 }),
  MAX_CONCURRENT_UPLOADS_PER_USER: wholeNumber({ default: 100, min: 1 }),
  /** Of version 1 and one client address (IPv6: one /64), before the caller is verified; in this process. */
  MAX_ANONYMOUS_UPLOADS_PER_ADDRESS: wholeNumber({ default: 100, min: 1 }),
  /** Of one client address: uploads that end without a verified caller; in this process. 0: no limit. */
  UNVERIFIED_UPLOADS_PER_MINUTE_PER_ADDRESS: wholeNumber({ default: 1000 }),
  /** Memory for media that precedes the four secrets of version 1, of one upload and of all. */
  UNVERIFIED_BUFFER_BYTES: wholeNumber({ default: 64 * MiB, min: 1 }),
  /** Counted over all gateways that share a CACHE_REDIS_URL; 0: no limit. */
  UPLOADS_PER_MINUTE_PER_USER: wholeNumber({ default: 120 }),
  UPLOADS_PER_MINUTE_PER_KEY: wholeNumber({ default: 0 }),
  /** Memory of all uploads on their way into the store; at least one part. */
  UPLOAD_BUFFER_BYTES: wholeNumber({ default: 256 * MiB, min: 8 * MiB }),
  MAX_UPLOAD_SECONDS: wholeNumber({ default: 6 * 3600, min: 1, max: 12 * 3600 }),
  MIN_BYTES_PER_SECOND: wholeNumber({ default: 1024 }),
  PROBE_TIMEOUT_MS: wholeNumber({ default: 25_000, min: 1000, max: 600_000 }),
  /** Comma-separated addresses and networks whose X-Forwarded-For is trusted. */
  TRUSTED_PROXIES: commaSeparated('').refine(
    (proxies) => proxies.every(isNetwork),
    'must be addresses or networks (10.0.0.0/8)',
  ),
  /** Comma-separated origins (`https://media.example`) from which browsers may upload. */
  CORS_ORIGINS: commaSeparated('').refine(
    (origins) => origins.every((entry) => URL.canParse(entry) && new URL(entry).origin === entry),
    'must be origins (https://media.example), without a path',
  ),
  CLIENT_COMPATIBILITY: choice(['strict', 'historic'], 'strict'),
};

function isNetwork(entry: string): boolean {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return Number(bits ?? 1) >= 1 && longest >= Number(bits ?? 1);
}

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
