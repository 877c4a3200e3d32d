import { html } from '../pages/html.ts';
import type { Page } from '../pages/page.ts';
import type { WebUpload } from '../site.ts';
import { signedInPolicy, signInSettings } from './sign-in-buttons.ts';

/** The page to which providers redirect, each to its own path: its script completes the sign-in and goes back. */
export function signInPage(upload: WebUpload, siteName: string): Page {
  return {
    title: `Sign in · ${siteName}`,
    robots: 'noindex',
    caching: 'no-store',
    policy: signedInPolicy(upload),
    head: html`<link rel="stylesheet" href="/sign-in/sign-in.css">
<script src="/sign-in/callback.js" type="module"></script>
`,
    body: html`<div class="text sign-in">
<h1>Sign in</h1>
<noscript><p class="refusal">Signing in requires JavaScript.</p></noscript>
<p class="refusal late" id="scripts-missing" role="alert">This page could not load its scripts. <a href="/upload">Go back</a> and sign in again.</p>
<p id="sign-in-progress" role="status"></p>
<p class="refusal" id="sign-in-fault" role="alert"></p>
<p class="ways" id="sign-in-again" hidden><a class="button" href="/upload">Back</a></p>
${signInSettings(upload)}
</div>`,
  };
}
