import { type Html, html } from './html.ts';

/** Says that media is not ready, with the share of a video that is transcoded, if known. The page must reload by itself. */
export function stillProcessing(what: 'picture' | 'video', share: number | undefined): Html {
  const later = 'It will appear here automatically.';
  if (share === undefined) return html`This ${what} is still being processed. ${later}`;
  const percent = `${Math.floor(share * 100)}`;
  return html`This ${what} is still being processed: ${percent} % done. <progress max="100" value="${percent}" aria-hidden="true"></progress> ${later}`;
}
