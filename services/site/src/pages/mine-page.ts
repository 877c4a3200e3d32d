import { isPhoto, mediaTypes } from '@echodrop/media/detect-media-type';
import { signedInPolicy, signInScripts, signInSection } from '../sign-in/sign-in-page.ts';
import type { WebUpload } from '../site.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';
import { scriptsMissing } from './scripts-missing.ts';

const videoTypes = mediaTypes.filter((type) => !isPhoto(type));

/** The page at `/mine`: its script lists the uploads of who has signed in, and deletes them at the gateway. */
export function minePage(upload: WebUpload, siteName: string): Page {
  return {
    title: `My uploads · ${siteName}`,
    policy: signedInPolicy(upload),
    robots: 'noindex',
    head: html`${signInScripts}<link rel="stylesheet" href="/upload/upload.css">
<script src="/mine/page.js" type="module"></script>
`,
    body: html`<div class="text upload">
<h1 id="heading" tabindex="-1">My uploads</h1>
<p class="lead">List and delete what you uploaded.</p>
${scriptsMissing(html`This page requires JavaScript. Without JavaScript, list and delete uploads <a href="/documentation">from the command line</a>.`)}
${signInSection(upload)}
<div id="mine" hidden>
<p class="ways"><a class="button" href="/mine/apps">Upload from other programs</a></p>
<p class="lead" id="empty" hidden>No uploads yet.</p>
<ul id="uploads" data-video-types="${videoTypes.join(' ')}" aria-label="Uploads, newest first"></ul>
<p class="news" id="news" role="status"></p>
<div class="refusal" id="refusal" role="alert"></div>
<p><button class="button" type="button" id="more" hidden>Show more</button></p>
</div>
</div>
<template id="item"><li class="file">
<div class="preview"></div>
<div>
<p class="link"><a class="title" dir="auto"></a></p>
<p class="hint"><time></time></p>
<p class="ways"></p>
</div>
</li></template>
<dialog id="confirm" aria-labelledby="confirm-name" aria-describedby="confirm-text">
<h2 id="confirm-name">Delete this upload?</h2>
<p><q id="confirm-title" dir="auto"></q></p>
<p id="confirm-text">The file, its page and all its sizes are deleted, and links to them stop working. This cannot be undone.</p>
<p class="ways"><button class="button" type="button" value="" autofocus>Keep</button> <button class="button danger" type="button" value="delete">Delete</button></p>
</dialog>`,
  };
}
