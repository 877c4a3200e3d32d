import { choice, someOf, wholeNumber } from '@echodrop/service/env';
import { mediaTypes } from './media-type.ts';
import { sandboxModes } from './sandbox/sandbox.ts';

/** Settings of every service that reads media. */
export const mediaSettings = {
  /** Width x height of a canvas. */
  MAX_PIXELS: wholeNumber({ default: 100_000_000, min: 1 }),
  /** Types to refuse, for the day on which a reader of one of them turns out to be unsafe. */
  MEDIA_TYPES_OFF: someOf(mediaTypes),
};

/** Settings of the services that start media tools. */
export const toolSettings = {
  /** How tools that read untrusted bytes are confined (docs/media.md). */
  MEDIA_SANDBOX: choice(sandboxModes, 'full'),
};
