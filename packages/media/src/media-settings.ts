import { choice, someOf, wholeNumber } from '@echodrop/service/env';
import { mediaTypes } from './media-type.ts';
import { sandboxModes } from './sandbox/sandbox.ts';

const MiB = 1024 * 1024;

/** Settings of the gateway, which enforces them, and of the site, whose upload page checks files before it sends them. */
export const uploadSettings = {
  MAX_MEDIA_BYTES: wholeNumber({ default: 512 * MiB, min: 1 }),
};

/** Settings of every service that reads media. */
export const mediaSettings = {
  /** Width x height of a canvas. */
  MAX_PIXELS: wholeNumber({ default: 100_000_000, min: 1 }),
  /** Types to refuse, for use while a decoder is known to be vulnerable. */
  MEDIA_TYPES_OFF: someOf(mediaTypes),
};

/** Settings of the services that start media tools. */
export const toolSettings = {
  /** How media tools are confined (docs/host/isolation.md). */
  MEDIA_SANDBOX: choice(sandboxModes, 'full'),
};
