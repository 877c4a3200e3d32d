import { html } from './html.ts';
import type { Page } from './page.ts';
import type { Site } from './site.ts';

/** What stands at `/` of a site. */
export function homePage({ name, upload }: Pick<Site, 'name' | 'upload'>): Page {
  return {
    title: name,
    body: html`<div class="text home">
<h1>${name}</h1>
<p class="lead">Photos and films, shared by people who post elsewhere.</p>
<p>An application uploads a file and a message for its user, and gets the address of a page to put into a post.</p>
<p>Who the user is, their own identity provider says: there is no account here, and no password.</p>
<p>What is shown is made anew from each upload, without its place, its camera or anything else beside the picture.</p>
<p>Whoever uploads can take it down again, and then it is gone.</p>
<p class="ways">${upload && html`<a class="button" href="/upload">Upload</a> `}<a class="button" href="/documentation">For developers</a></p>
</div>`,
  };
}
