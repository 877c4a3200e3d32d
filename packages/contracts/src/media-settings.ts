import { tmpdir } from 'node:os';
import { mediaTypes } from '@echodrop/media/detect-media-type';
import { sandboxModes } from '@echodrop/media/sandbox/sandbox';
import { choice, someOf, text, wholeNumber } from '@echodrop/service/env';

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
    'comma-separated [types to refuse](media.md#turning-types-off), such as `avif,heic`',
  ),
};

/** Settings of the services that start media tools. */
export const toolSettings = {
  SCRATCH_DIR: text(tmpdir()).describe(
    'temporary files ([size](../host/requirements.md#memory-disk-and-network)). Folders of dead workers are removed after a minute',
  ),
  MEDIA_SANDBOX: choice(sandboxModes, 'full').describe(
    '`full` (Landlock and seccomp) or `limits-only`: [isolation of media tools](../host/isolation.md)',
  ),
};
