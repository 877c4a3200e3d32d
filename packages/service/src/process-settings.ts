import { choice, httpAddress, port, type Settings, text, wholeNumber } from './env.ts';

/** Settings of every process; `opsPort` is the service's default. */
export function processSettings(opsPort: number) {
  return {
    HOST: text('127.0.0.1'),
    OPS_PORT: port(opsPort),
    BUILD_REVISION: text('unknown'),
    LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    /** Target of traces (OTLP over HTTP); without it, none are sent. The SDK reads this and its other variables itself. */
    OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress().optional(),
    OTEL_EXPORTER_OTLP_PROTOCOL: choice(['http/protobuf', 'http/json'], 'http/protobuf'),
    SHUTDOWN_DELAY_SECONDS: wholeNumber({ default: 0, max: 3600 }),
    SHUTDOWN_GRACE_SECONDS: wholeNumber({ default: 20, max: 86_400 }),
  };
}

export type ProcessSettings = Settings<ReturnType<typeof processSettings>>;
