import type { UnsupportedReason } from './unsupported.ts';

/** Why a rendition was not made. `timed_out`: rendering took too long, or the machine was busy. */
export type RenditionReason = UnsupportedReason | 'timed_out';

/** `unsupported`: no rendition can be made of these bytes. A retry gives the same result, except after `timed_out`. */
export type Rendered =
  | { readonly outcome: 'made' }
  | { readonly outcome: 'unsupported'; readonly why: RenditionReason };
