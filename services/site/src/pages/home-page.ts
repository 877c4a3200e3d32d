import { canSignIn, type Site } from '../site.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

/** The page at `/`. */
export function homePage({ name, upload }: Pick<Site, 'name' | 'upload'>): Page {
  return {
    title: name,
    body: html`<div class="text home">
<h1>${name}</h1>
<p class="lead">Photos and videos to link from your posts.</p>
<p>Applications upload a file and a message for a user, and get a page address to put into a post.</p>
<p>Users prove their identity with their own identity provider. There are no accounts or passwords here.</p>
<p>Published copies carry no location, camera or other metadata.</p>
<p>Users can delete their uploads at any time.</p>
<p class="ways">${upload && html`<a class="button" href="/upload">Upload</a> `}${canSignIn(upload) ? html`<a class="button" href="/mine">My uploads</a> ` : undefined}<a class="button" href="/documentation">For developers</a></p>
</div>`,
  };
}
