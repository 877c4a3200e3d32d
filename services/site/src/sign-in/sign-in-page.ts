import { redirectPath } from '@echodrop/contracts/sign-in';
import { type Html, html } from '../pages/html.ts';
import { type Page, pagePolicy } from '../pages/page.ts';
import type { WebUpload } from '../site.ts';

/** What pages and command lines need for signing in and uploading; public. */
export function publicSettings({ address, apiKey, signIn }: WebUpload) {
  const providers = signIn.map(({ origins: _, ...provider }) => ({
    ...provider,
    redirectPath: redirectPath(provider),
  }));
  return { upload: address, ...(apiKey === undefined ? {} : { apiKey }), providers };
}

/** For the head of a page with `signInSection`. */
export const signInScripts: Html = html`<link rel="stylesheet" href="/sign-in/sign-in.css">
<script src="/sign-in/buttons.js" type="module"></script>
`;

/** A button for each provider; after the sign-in, who is signed in. `buttons.js` shows one of the two. */
export function signInSection(upload: WebUpload): Html {
  if (upload.signIn.length === 0) return signInSettings(upload);
  const buttons = upload.signIn.map(
    ({ name }, i) =>
      html`<button class="button" type="button" data-sign-in="${i}">Sign in with <bdi>${name}</bdi></button>\n`,
  );
  return html`<section class="sign-in" aria-label="Sign in">
<div id="sign-in-ways" hidden>
<p class="ways">${buttons}</p>
<p class="hint">You stay signed in until you leave this site or close this tab.</p>
</div>
<p id="signed-in" hidden><span>Signed in as <strong><bdi id="signed-in-name"></bdi></strong> at <bdi id="signed-in-at"></bdi>.</span> <button class="button" type="button" id="sign-out">Sign out</button></p>
<p class="news" id="sign-in-news" role="status"></p>
<p class="refusal" id="sign-in-fault" role="alert"></p>
${signInSettings(upload)}
</section>`;
}

/** What the scripts read: the same as `/sign-in/providers.json`. */
export function signInSettings(upload: WebUpload): Html {
  return html`<div id="sign-in-settings" data-settings="${JSON.stringify(publicSettings(upload))}" hidden></div>`;
}

/** The Content-Security-Policy of pages that sign in, upload or list: scripts may query this site, the gateway and the configured providers. */
export function signedInPolicy({ address, signIn }: WebUpload): string {
  const addresses = signIn.flatMap((each) => [
    each.provider,
    ...(each.profile === 'oidc' ? [each.issuer] : []),
    ...each.origins,
  ]);
  const origins = new Set([address, ...addresses].map((each) => new URL(each).origin));
  return pagePolicy({ frameAncestors: "'none'", scripts: { connectTo: ["'self'", ...origins].join(' ') } });
}

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
