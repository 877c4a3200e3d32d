import { LinkifyIt } from 'linkify-it';
import { type Html, html } from './html.ts';

// Only what says http or https itself: a dot without a space behind it makes no link.
const links = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false })
  .add('ftp:', null)
  .add('mailto:', null)
  .add('//', null);

/** A text of users in which web addresses can be followed. Search engines are told not to count them. */
export function linkedText(text: string): Html {
  const parts: Html[] = [];
  let end = 0;
  for (const { index, lastIndex, url, raw } of links.match(text) ?? []) {
    parts.push(html`${text.slice(end, index)}<a href="${url}" rel="nofollow ugc noopener">${raw}</a>`);
    end = lastIndex;
  }
  return html`${parts}${text.slice(end)}`;
}
