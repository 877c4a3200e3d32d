import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import {
  choice,
  httpAddress,
  httpOrigin,
  port,
  readSettings,
  requiredWhen,
  rotatedSecret,
  type Settings,
  text,
} from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis/redis';
import { fieldLabels, readFill } from './upload-page/fill.ts';

const settings = {
  ...processSettings(9081),
  ...queueRedisSettings,
  ...storeSettings,
  PORT: port(8081),
  RENDITION_QUEUE_SECRET: rotatedSecret({ minLength: 16 }),
  /** Where people reach the site; the gateway's setting of this name is the same. */
  PUBLIC_SITE_URL: httpOrigin('http://127.0.0.1:8081'),
  /** What the site is called on its pages and in previews. */
  SITE_NAME: text('Echodrop'),
  /** A link on every page: an address that begins with https: or mailto:. */
  ABUSE_CONTACT: text().refine(isContact, 'must be an address that begins with https: or mailto:').optional(),
  /** Whether search engines may list pages of media, and pictures and videos. */
  ROBOTS: choice(['noindex', 'index'], 'noindex'),
  /** Whether pages name their oEmbed address, after which Mastodon reads nothing else of them. */
  OEMBED_DISCOVERY: choice(['0', '1'], '0'),
  /** Whether there is a page for uploads in a browser. */
  WEB_UPLOAD: choice(['0', '1'], '0'),
  /** The gateway as browsers reach it, with its base path; its CORS_ORIGINS must name the site. */
  UPLOAD_URL: requiredWhen('WEB_UPLOAD', '1', httpAddress()),
  /** What stands in fields of that page from the start, for everybody to read. */
  WEB_UPLOAD_FILL: text('{}')
    .transform(readFill)
    .refine(
      (fill) => fill !== undefined,
      `must be a JSON object of texts, named ${Object.keys(fieldLabels).join(', ')}`,
    ),
};

function isContact(address: string): boolean {
  return /^(https:\/\/|mailto:)\S+$/.test(address) && URL.canParse(address);
}

export type SiteConfig = Settings<typeof settings>;

export function readConfig(env: NodeJS.ProcessEnv): SiteConfig {
  return readSettings(settings, env);
}
