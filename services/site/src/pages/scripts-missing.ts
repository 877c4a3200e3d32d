import { type Html, html } from './html.ts';

/** What a page shows if its scripts do not run. Hides forms after it until they do. Needs `/sign-in/sign-in.css`. */
export function scriptsMissing(withoutScripts: Html): Html {
  return html`<noscript><p class="refusal">${withoutScripts}</p></noscript>
<p class="refusal late" id="scripts-missing" role="alert">This page could not load its scripts. <a href="">Reload it</a>.</p>
<script src="/scripts/check-modules.js" type="module"></script>`;
}
