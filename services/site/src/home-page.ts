import { html } from './html.ts';
import type { Page } from './page.ts';

/** What stands at `/`. */
export const homePage: Page = {
  title: 'Echodrop',
  body: html`<div class="text">
<h1>Echodrop</h1>
<p>Photos and films, shared by people who post elsewhere.</p>
<p>An application uploads a file and a message for its user, and gets an address like <code>/Ab3dE6gH9j</code> to put into a post.</p>
<p>Who the user is, their own identity provider says; there is no account here and no password.</p>
<p>What is shown is made anew from each upload: without its place, its camera or any other data beside the picture.</p>
<p>This site is run by the people who sent you here, on a server of their own.</p>
</div>`,
};
