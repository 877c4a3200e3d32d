import { choice, httpAddress, port, type Settings, text, wholeNumber } from './env.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Settings of every process; `opsPort` is the service's default. */
export function processSettings(opsPort: number) {
  return {
    HOST: text('127.0.0.1').describe('IP address to listen on'),
    OPS_PORT: port(opsPort).describe('port of `/livez`, `/readyz` and `/metrics`'),
    BUILD_REVISION: text('unknown').describe('revision in the metric `echodrop_build_info`; images set it'),
    LOG_LEVEL: choice(logLevels, 'info').describe(logLevels.map((level) => `\`${level}\``).join(', ')),
    // The OpenTelemetry SDK reads this variable, and its other ones, itself.
    OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress()
      .optional()
      .describe(
        'trace collector (OTLP over HTTP, with Protocol Buffers); for other `OTEL_` variables see [traces](../host/traces.md)',
      ),
    SHUTDOWN_DELAY_SECONDS: wholeNumber({ default: 0, max: 3600 }).describe(
      'time to keep serving after SIGTERM, while not ready (Compose: gateway and site 3)',
    ),
    SHUTDOWN_GRACE_SECONDS: wholeNumber({ default: 20, max: 86_400 }).describe(
      'time for running uploads, downloads and jobs to finish after that',
    ),
  };
}

export type ProcessSettings = Settings<ReturnType<typeof processSettings>>;
