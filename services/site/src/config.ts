import { uploadSettings } from '@echodrop/media/media-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { apiKey } from '@echodrop/service/api-key';
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
import { signInProviders } from './sign-in/sign-in-providers.ts';
import { fieldLabels, parsePrefill } from './upload-page/prefill.ts';

const settings = {
  ...processSettings(9081),
  ...queueRedisSettings,
  ...storeSettings,
  ...uploadSettings,
  PORT: port(8081),
  RENDITION_QUEUE_SECRET: rotatedSecret({ minLength: 16 }),
  /** The public address of the site; the same as the gateway's setting. */
  PUBLIC_SITE_URL: httpOrigin('http://127.0.0.1:8081'),
  /** The name of the site on pages and in previews. */
  SITE_NAME: text('Echodrop'),
  ABUSE_CONTACT: text()
    .refine(
      (value) => /^(https:\/\/|mailto:)\S+$/.test(value) && URL.canParse(value),
      'must be an https: or mailto: address',
    )
    .optional(),
  /** Whether search engines may index pages, pictures and videos. */
  ROBOTS: choice(['noindex', 'index'], 'noindex'),
  /** Whether pages link to their oEmbed; Mastodon then ignores all other tags. */
  OEMBED_DISCOVERY: choice(['0', '1'], '0'),
  WEB_UPLOAD: choice(['0', '1'], '0'),
  /** The gateway as browsers reach it, with its base path; its CORS_ORIGINS must include the site. */
  UPLOAD_URL: requiredWhen('WEB_UPLOAD', '1', httpAddress()),
  /** The API key that the pages use; the same as the gateway's setting. Public. */
  WEB_UPLOAD_API_KEY: apiKey().optional(),
  /** Providers at which people sign in on the pages. */
  WEB_SIGN_IN: signInProviders,
  /** Initial values of fields of the upload page; public. */
  WEB_UPLOAD_FILL: text('{}')
    .transform(parsePrefill)
    .refine(
      (prefill) => prefill !== undefined,
      `must be a JSON object of strings: ${Object.keys(fieldLabels).join(', ')}`,
    ),
};

export type SiteConfig = Settings<typeof settings>;

export function readConfig(env: NodeJS.ProcessEnv): SiteConfig {
  return readSettings(settings, env);
}
