interface RemovedSetting {
  /** The services that read it in earlier releases. */
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
};

/** One sentence for each removed setting that `env` has and `service` once read. Empty counts as unset, as of any setting. */
export function findRemovedSettings(service: string, env: NodeJS.ProcessEnv): string[] {
  return Object.entries(removedSettings).flatMap(([name, { readers, instead }]) =>
    env[name] && readers.includes(service) ? [`${name} was removed and has no effect. ${instead}`] : [],
  );
}
