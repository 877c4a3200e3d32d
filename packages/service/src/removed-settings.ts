interface RemovedSetting {
  /** The services that read the setting in earlier releases. */
  readonly readers: readonly string[];
  /** What happens now, and what to set instead. */
  readonly instead: string;
}

/** Settings of earlier releases. */
export const removedSettings: Readonly<Record<string, RemovedSetting>> = {
  VERDICT_REUSE: {
    readers: ['auth-verifier'],
    instead:
      'A repeated proof gets its cached verdict, from any address. With VERDICT_TTL_SECONDS=0 the identity provider decides on each repeat',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    readers: ['auth-verifier', 'gateway', 'probe-worker', 'rendition-worker', 'sandbox-provider', 'site'],
    instead: 'Traces are sent as http/protobuf',
  },
  MAX_ANONYMOUS_UPLOADS_PER_ADDRESS: {
    readers: ['gateway'],
    instead: 'The limit is a tenth of MAX_CONCURRENT_UPLOADS',
  },
  UNVERIFIED_UPLOADS_PER_MINUTE_PER_ADDRESS: {
    readers: ['gateway'],
    instead: 'The limit is 1000. A proxy in front of the gateway can set a lower one',
  },
  UNVERIFIED_BUFFER_BYTES: { readers: ['gateway'], instead: 'The memory is a quarter of UPLOAD_BUFFER_BYTES' },
  MIN_BYTES_PER_SECOND: { readers: ['gateway'], instead: 'The slowest accepted sender sends 1024 bytes per second' },
  FILM_CONCURRENCY: {
    readers: ['probe-worker', 'rendition-worker'],
    instead: 'It follows from CONCURRENCY: a quarter of it in probe-workers, half of it in rendition-workers',
  },
  SLOW_CONCURRENCY: {
    readers: ['rendition-worker'],
    instead: 'The slow lane of a rendition-worker runs 2 jobs at once. For more, add rendition-workers',
  },
  WEB_UPLOAD_FILL: { readers: ['site'], instead: 'People sign in (WEB_SIGN_IN), with the API key WEB_UPLOAD_API_KEY' },
  SANDBOX_BEHAVIOUR: { readers: ['sandbox-provider'], instead: 'Change the behaviour on its page, at /sandbox' },
  SANDBOX_SLOW_SECONDS: { readers: ['sandbox-provider'], instead: 'Change the delay on its page, at /sandbox' },
  RESUMABLE_EXPIRY_HOURS: { readers: ['gateway'], instead: 'A resumable upload expires 24 hours after its creation' },
};

/** One sentence for each removed setting that `env` has and `service` once read. Empty counts as unset, as of any setting. */
export function findRemovedSettings(service: string, env: NodeJS.ProcessEnv): string[] {
  return Object.entries(removedSettings).flatMap(([name, { readers, instead }]) =>
    env[name] && readers.includes(service) ? [`${name} was removed and has no effect. ${instead}`] : [],
  );
}
