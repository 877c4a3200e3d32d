import type { Size } from '@echodrop/media/size';
import type { PublishedMedia } from '../find/find-media.ts';
import { type Html, html } from './html.ts';
import { titleOf } from './media-title.ts';

/** A video as other sites show it within their pages: its player in a frame of this size. */
export function playerFrame(record: PublishedMedia, { width, height }: Size, publicSite: string): Html {
  const address = `${publicSite}/${record.id}/player`;
  return html`<iframe src="${address}" width="${width}" height="${height}" title="${titleOf(record)}" frameborder="0" allowfullscreen></iframe>`;
}
