import { type ServiceName, serviceConfigs, serviceNames } from '../../deploy/local/services.ts';

const redis = 'redis://user:password@redis.example:6379';
const secret = 'a secret of sixteen or more characters';

const signIn = {
  name: 'Town',
  profile: 'mastodon',
  provider: 'https://social.example/api/v1/accounts/verify_credentials',
};

// A valid value of every setting, not the default where there is another.
const examples: Readonly<Record<string, string>> = {
  HOST: '127.0.0.2',
  PORT: '8090',
  OPS_PORT: '9090',
  BUILD_REVISION: 'abc',
  LOG_LEVEL: 'debug',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
  SHUTDOWN_DELAY_SECONDS: '5',
  SHUTDOWN_GRACE_SECONDS: '40',
  REDIS_URL: redis,
  QUEUE_REDIS_URL: redis,
  CACHE_REDIS_URL: redis,
  OBJECT_STORE: 'minio',
  OBJECT_STORE_DIR: '/srv/store',
  S3_ENDPOINT: 'https://s3.example',
  S3_REGION: 'eu-central-1',
  S3_BUCKET: 'media',
  S3_ACCESS_KEY: 'access',
  S3_SECRET_KEY: 'secret',
  PUBLIC_SITE_URL: 'https://media.example',
  VERIFIER_URL: 'http://verifier.example:8082',
  VERIFIER_SECRET: secret,
  CACHE_KEY_SECRET: secret,
  USER_ID_SECRET: secret,
  PROBE_QUEUE_SECRET: `${secret},the secret before it`,
  RENDITION_QUEUE_SECRET: secret,
  API_KEYS: 'first,birdsong=second',
  WEB_UPLOAD_API_KEY: 'web-upload',
  BASE_PATHS: '/,/api/media',
  MAX_CONCURRENT_UPLOADS: '10',
  MAX_CONCURRENT_UPLOADS_PER_USER: '5',
  UPLOADS_PER_MINUTE_PER_USER: '0',
  UPLOADS_PER_MINUTE_PER_KEY: '60',
  UPLOAD_BUFFER_BYTES: '16777216',
  MAX_MEDIA_BYTES: '1000000000',
  MAX_UPLOAD_SECONDS: '3600',
  PROBE_TIMEOUT_MS: '60000',
  TRUSTED_PROXIES: '10.0.0.0/8,::1',
  CORS_ORIGINS: 'https://media.example',
  CLIENT_COMPATIBILITY: 'historic',
  MAX_PIXELS: '50000000',
  MEDIA_TYPES_OFF: 'avif,tiff',
  MEDIA_SANDBOX: 'limits-only',
  SCRATCH_DIR: '/scratch',
  CONCURRENCY: '3',
  IDENTITY_PROVIDERS: `https://a.example/verify, mastodon ${signIn.provider}=http://127.0.0.1:3000/verify`,
  VERDICT_TTL_SECONDS: '30',
  PROVIDER_TIMEOUT_MS: '3000',
  SITE_NAME: 'Town photos',
  ABUSE_CONTACT: 'mailto:abuse@media.example',
  ROBOTS: 'index',
  OEMBED_DISCOVERY: '1',
  WEB_UPLOAD: '1',
  UPLOAD_URL: 'https://upload.example',
  WEB_SIGN_IN: JSON.stringify([signIn]),
};

// It names a file.
const withoutExample = ['SANDBOX_USERS_FILE'];

/**
 * A valid value of every setting, by service.
 * @throws Error if a setting lacks an example, and InvalidSettings if an example is invalid
 */
export function exampleSettings(): Record<ServiceName, Record<string, string>> {
  const entries = serviceNames.map((service) => {
    const names = Object.keys(serviceConfigs[service].settings).filter((name) => !withoutExample.includes(name));
    const settings = Object.fromEntries(names.map((name) => [name, exampleOf(name)]));
    serviceConfigs[service].readConfig(settings);
    return [service, settings];
  });
  return Object.fromEntries(entries);
}

function exampleOf(name: string): string {
  const example = examples[name];
  if (example === undefined) throw new Error(`${name} has no example: add one to test/upgrade/example-settings.ts`);
  return example;
}
