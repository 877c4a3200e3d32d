import { LinkifyIt } from 'linkify-it';
import { type Html, html } from './html.ts';
import { withoutTurning } from './media-title.ts';

// Only what says http or https itself: a dot without a space behind it makes no link.
const links = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false })
  .add('ftp:', null)
  .add('mailto:', null)
  .add('//', null);

/** A text of users in which web addresses can be followed; each is read from left to right, whatever stands around it. Search engines are told not to count them. */
export function linkedText(text: string): Html {
  const parts: Html[] = [];
  const shown = withoutTurning(text);
  let end = 0;
  for (const { index, lastIndex, url, raw } of links.match(shown) ?? []) {
    parts.push(html`${shown.slice(end, index)}<a href="${url}" rel="nofollow ugc noopener" dir="ltr">${raw}</a>`);
    end = lastIndex;
  }
  return html`${parts}${shown.slice(end)}`;
}
