import { choice, port, type Settings, text, wholeNumber } from './env.ts';

/** What every process of the system reads; `opsPort` is the service's own default. */
export function processSettings(opsPort: number) {
  return {
    HOST: text('127.0.0.1'),
    OPS_PORT: port(opsPort),
    LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    SHUTDOWN_DELAY_SECONDS: wholeNumber({ default: 0, max: 3600 }),
    SHUTDOWN_GRACE_SECONDS: wholeNumber({ default: 20, max: 86_400 }),
  };
}

export type ProcessSettings = Settings<ReturnType<typeof processSettings>>;
