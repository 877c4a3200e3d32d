import { browserScripts } from '@echodrop/oauth/browser-scripts';
import { Router } from 'express';
import { type Html, html } from '../pages/html.ts';
import { type Page, sendPage } from '../pages/page.ts';
import { fixedFile } from '../serve/fixed-file.ts';
import { signedInPolicy, signInScripts, signInSection } from '../sign-in/sign-in-buttons.ts';
import type { Site, WebUpload } from '../site.ts';
import { type FieldName, fieldLabels, type Prefill } from './prefill.ts';

const signing = ['consumerKey', 'consumerSecret', 'token', 'tokenSecret'] as const;
const secrets: ReadonlySet<FieldName> = new Set(['consumerSecret', 'tokenSecret', 'bearer']);

const scripts = ['page', 'elements', 'caption', 'chosen-file', 'send-upload', 'response'];

/** `/upload` and the files that the page loads; no routes without an upload page. */
export function uploadRoutes(site: Pick<Site, 'upload' | 'name' | 'abuseContact'>): Router {
  const { upload, name } = site;
  const router = Router({ caseSensitive: true, strict: true });
  if (!upload) return router;
  router.get('/upload', (_request, response) => sendPage(response, 200, uploadPage(upload, name), site));
  router.get('/upload/upload.css', fixedFile(new URL('./upload.css', import.meta.url)));
  for (const script of scripts) {
    router.get(`/upload/${script}.js`, fixedFile(new URL(`./browser/${script}.js`, import.meta.url)));
  }
  for (const [path, file] of Object.entries(browserScripts)) router.get(`/upload/${path}`, fixedFile(file));
  return router;
}

/** The page at `/upload`: its script sends the form to the gateway like any other client. */
function uploadPage(upload: WebUpload, siteName: string): Page {
  const { address, apiKey, signIn } = upload;
  const prefill = { apiKey, ...upload.prefill };
  const usesBearer = Boolean(prefill.bearer) && !prefill.token;
  return {
    title: `Upload · ${siteName}`,
    policy: signedInPolicy(upload),
    head: html`<link rel="stylesheet" href="/upload/upload.css">
<script src="/upload/oauth-1.0a.js" defer></script>
${signInScripts}<script src="/upload/page.js" type="module"></script>
`,
    body: html`<div class="text upload">
<h1>Upload</h1>
<p class="lead">A photo or a video, and a public caption.</p>
<noscript><p class="refusal">Uploading from this page requires JavaScript. <a href="/documentation">Without it</a>, use a command line.</p></noscript>
${signInSection(upload)}
<form id="upload" autocomplete="off" data-address="${address}/2/upload.json">
<fieldset id="fields" disabled>
<div class="drop" id="drop">
<div class="preview" id="preview" hidden></div>
<label for="media">Photo or video</label>
<input id="media" name="media" type="file" accept="image/*,video/*,.heic,.mkv,.ts,.flv" required aria-describedby="media-hint">
<p class="hint" id="media-hint">Choose a file, or drop one anywhere on this page.</p>
</div>
<p class="field"><label for="message">Caption</label><textarea id="message" dir="auto" name="message" rows="3"></textarea></p>
<details id="who"${signIn.length > 0 || isComplete(prefill, usesBearer) ? undefined : html` open`}>
<summary>Advanced</summary>
<fieldset id="credentials">
${field('provider', prefill, html` type="url" aria-describedby="provider-hint"`)}
<p class="hint" id="provider-hint">The address at which it verifies credentials. This page stores nothing that you type; of OAuth 1.0a secrets it sends only a signature.</p>
<fieldset class="proof">
<legend>Proof</legend>
${proof('oauth', 'OAuth 1.0a', !usesBearer)} ${proof('bearer', 'Bearer token', usesBearer)}
</fieldset>
<fieldset id="with-oauth" class="secrets"${hiddenUnless(!usesBearer)}>
${signing.map((name) => field(name, prefill))}</fieldset>
<fieldset id="with-bearer" class="secrets"${hiddenUnless(usesBearer)}>
${field('bearer', prefill)}</fieldset>
</fieldset>
${field('apiKey', prefill)}</details>
<p><button class="button main" type="submit" id="submit">Upload</button></p>
</fieldset>
</form>
<p class="refusal" id="refusal" role="alert"></p>
<p class="news" id="outcome" role="status"></p>
<div id="sending" hidden>
<progress id="progress" aria-label="Sent so far" max="1" value="0"></progress>
<p id="sent"></p>
<p><button class="button" type="button" id="cancel">Cancel</button></p>
</div>
<section id="done" aria-labelledby="done-name" hidden>
<h2 id="done-name" tabindex="-1">Published</h2>
<p class="link"><a id="link" href="/"></a></p>
<h3 id="record-name">Record</h3>
<pre><code id="record"></code></pre>
<p><button class="button" type="button" id="again">Upload another</button></p>
</section>
</div>`,
  };
}

function isComplete(prefill: Prefill, usesBearer: boolean): boolean {
  const needed: readonly FieldName[] = ['provider', 'apiKey', ...(usesBearer ? (['bearer'] as const) : signing)];
  return needed.every((name) => prefill[name]);
}

function field(name: FieldName, prefill: Prefill, attributes: Html = typeOf(name)): Html {
  return html`<p class="field"><label for="${name}">${fieldLabels[name]}</label><input id="${name}" name="${name}" value="${prefill[name]}"${attributes} required autocomplete="off" spellcheck="false" autocapitalize="none"></p>\n`;
}

function typeOf(name: FieldName): Html {
  return secrets.has(name) ? html` type="password"` : html` type="text"`;
}

function proof(value: string, label: string, isChecked: boolean): Html {
  const checked = isChecked ? html` checked` : undefined;
  return html`<label><input type="radio" name="proof" value="${value}"${checked}> ${label}</label>`;
}

function hiddenUnless(isShown: boolean): Html | undefined {
  return isShown ? undefined : html` hidden disabled`;
}
