import { LinkifyIt } from 'linkify-it';
import { type Html, html } from './html.ts';
import { withoutDirectionMarks } from './media-title.ts';

// Only explicit http and https addresses.
const links = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false })
  .add('ftp:', null)
  .add('mailto:', null)
  .add('//', null);

const maxLinkedLength = 8192;

/** Links the web addresses in the first 8 Ki characters of a user's text, for people and not for search engines. Addresses keep their direction in right-to-left text. */
export function linkedText(text: string): Html {
  const pieces: Html[] = [];
  const shown = withoutDirectionMarks(text);
  let end = 0;
  for (const { index, lastIndex, url, raw } of links.match(beginningOf(shown)) ?? []) {
    pieces.push(html`${shown.slice(end, index)}<a href="${url}" rel="nofollow ugc noopener" dir="ltr">${raw}</a>`);
    end = lastIndex;
  }
  return html`${pieces}${shown.slice(end)}`;
}

// Cut between words, so that no link contains half an address.
function beginningOf(text: string): string {
  if (text.length <= maxLinkedLength) return text;
  const [beginning = ''] = new RegExp(`^.{0,${maxLinkedLength}}(?=\\s)`, 's').exec(text) ?? [];
  return beginning;
}
