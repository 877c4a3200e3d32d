import { tmpdir } from 'node:os';
import { choice, someOf, text, wholeNumber } from '@echodrop/service/env';
import { mediaTypes } from './detect-media-type.ts';
import { sandboxModes } from './sandbox/sandbox.ts';

const MiB = 1024 * 1024;

/** Settings of the gateway, which enforces them, and of the site, whose upload page checks files before it sends them. */
export const uploadSettings = {
  MAX_MEDIA_BYTES: wholeNumber({ default: 512 * MiB, min: 1 }).describe(
    'largest file. The upload page refuses larger files before it sends them',
  ),
};

/** Settings of every service that reads media. */
export const mediaSettings = {
  MAX_PIXELS: wholeNumber({ default: 100_000_000, min: 1 }).describe('largest width x height of a canvas'),
  MEDIA_TYPES_OFF: someOf(mediaTypes).describe(
    'comma-separated types to refuse, such as `avif,heic`, while a decoder is vulnerable ([more](media.md#turning-types-off))',
  ),
};

/** Settings of the services that start media tools. */
export const toolSettings = {
  SCRATCH_DIR: text(tmpdir()).describe(
    'temporary files: a few MiB for each video in the probe-worker; twice the size of the largest media for each job in the rendition-worker. ' +
      'Each worker has one folder there; folders of dead workers are removed after a minute',
  ),
  MEDIA_SANDBOX: choice(sandboxModes, 'full').describe(
    '`full`: Landlock and seccomp; a worker that cannot use them does not start. `limits-only`: resource limits only ([more](../host/isolation.md))',
  ),
};
