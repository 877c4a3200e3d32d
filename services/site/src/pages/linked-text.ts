import { LinkifyIt } from 'linkify-it';
import { type Html, html } from './html.ts';
import { withoutTurning } from './media-title.ts';

// Only what says http or https itself: a dot without a space behind it makes no link.
const links = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false })
  .add('ftp:', null)
  .add('mailto:', null)
  .add('//', null);

const maxLinkedLength = 8192;

/** A text of users in which web addresses in the first 8 Ki characters can be followed; each is read from left to right, whatever stands around it. Search engines are told not to count them. */
export function linkedText(text: string): Html {
  const parts: Html[] = [];
  const shown = withoutTurning(text);
  let end = 0;
  for (const { index, lastIndex, url, raw } of links.match(beginningOf(shown)) ?? []) {
    parts.push(html`${shown.slice(end, index)}<a href="${url}" rel="nofollow ugc noopener" dir="ltr">${raw}</a>`);
    end = lastIndex;
  }
  return html`${parts}${shown.slice(end)}`;
}

// Cut between words, so that no link leads to a part of an address.
function beginningOf(text: string): string {
  if (text.length <= maxLinkedLength) return text;
  const [beginning = ''] = new RegExp(`^.{0,${maxLinkedLength}}(?=\\s)`, 's').exec(text) ?? [];
  return beginning;
}
