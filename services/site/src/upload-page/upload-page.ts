import { type Html, html } from '../pages/html.ts';
import type { Page } from '../pages/page.ts';
import { pagePolicy } from '../pages/page-policy.ts';
import { type FieldName, type Fill, fieldLabels } from './fill.ts';

/** What the upload page goes by. */
export interface WebUpload {
  /** The gateway as browsers reach it, with its base path, without a slash at its end. */
  readonly address: string;
  readonly fill: Fill;
}

const signing = ['consumerKey', 'consumerSecret', 'token', 'tokenSecret'] as const;
const secrets: ReadonlySet<FieldName> = new Set(['consumerSecret', 'tokenSecret', 'bearer']);

/** The page at `/upload`: a form that its script sends to the gateway, as any other client does. */
export function uploadPage({ address, fill }: WebUpload, siteName: string): Page {
  const usesBearer = Boolean(fill.bearer) && !fill.token;
  return {
    title: `Upload · ${siteName}`,
    policy: pagePolicy({ framedBy: "'none'", scripts: { askOf: new URL(address).origin } }),
    head: html`<link rel="stylesheet" href="/upload/upload.css">
<script src="/upload/oauth-1.0a.js" defer></script>
<script src="/upload/page.js" type="module"></script>
`,
    body: html`<div class="text upload">
<h1>Upload</h1>
<p class="lead">A photo or a video, and a caption that everyone can read.</p>
<noscript><p class="refusal">Uploading from this page needs JavaScript. <a href="/documentation">Without it</a> a command line will do.</p></noscript>
<form id="upload" autocomplete="off" data-address="${address}/2/upload.json">
<fieldset id="fields" disabled>
<div class="drop" id="drop">
<div class="preview" id="preview" hidden></div>
<label for="media">Photo or video</label>
<input id="media" name="media" type="file" accept="image/*,video/*,.heic,.mkv,.ts,.flv" required aria-describedby="media-hint">
<p class="hint" id="media-hint">Choose a file, or drop one anywhere on this page.</p>
</div>
<p class="field"><label for="message">Caption</label><textarea id="message" dir="auto" name="message" rows="3"></textarea></p>
<details id="who"${isComplete(fill, usesBearer) ? undefined : html` open`}>
<summary>Who you are</summary>
${field('provider', fill, html` type="url" aria-describedby="provider-hint"`)}
<p class="hint" id="provider-hint">The address at which it verifies credentials. What you type here is kept nowhere; of the secrets of OAuth 1.0a only a signature is sent.</p>
${field('apiKey', fill)}
<fieldset class="proof">
<legend>How you prove it</legend>
${proof('oauth', 'OAuth 1.0a', !usesBearer)} ${proof('bearer', 'Bearer token', usesBearer)}
</fieldset>
<fieldset id="with-oauth" class="secrets"${hiddenUnless(!usesBearer)}>
${signing.map((name) => field(name, fill))}</fieldset>
<fieldset id="with-bearer" class="secrets"${hiddenUnless(usesBearer)}>
${field('bearer', fill)}</fieldset>
</details>
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

function isComplete(fill: Fill, usesBearer: boolean): boolean {
  const needed: readonly FieldName[] = ['provider', 'apiKey', ...(usesBearer ? (['bearer'] as const) : signing)];
  return needed.every((name) => fill[name]);
}

function field(name: FieldName, fill: Fill, attributes: Html = typeOf(name)): Html {
  return html`<p class="field"><label for="${name}">${fieldLabels[name]}</label><input id="${name}" name="${name}" value="${fill[name]}"${attributes} required autocomplete="off" spellcheck="false" autocapitalize="none"></p>\n`;
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
