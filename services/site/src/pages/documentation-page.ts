import { messagesOf, type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { canSignIn, type Site } from '../site.ts';
import { type Html, html } from './html.ts';
import type { Page } from './page.ts';

/** The page at `/documentation`: an introduction for developers of clients (docs/reference/interface.md). */
export function documentationPage({ name, publicSite, upload }: Pick<Site, 'name' | 'publicSite' | 'upload'>): Page {
  const gateway = upload?.address ?? 'https://upload.example';
  return {
    title: `For developers · ${name}`,
    body: html`<div class="text">
<h1>For developers</h1>
<p class="lead">Upload a photo or a video with a message, and get its record as XML or JSON.</p>
<p>The operators of this site give you the upload address (here <code>${gateway}</code>), the API key of your application, and the list of identity providers.</p>

<h2>Upload</h2>
<p>Send a form (<code>multipart/form-data</code>) with <code>key</code>, <code>message</code> (the caption; public, may be empty) and <code>media</code> (the file). Two headers identify the user: the address at which the provider verifies credentials, and what you would send there as <code>Authorization</code>: <code>Bearer …</code> (a token) or <code>OAuth …</code> (a signed request, OAuth Echo). A bearer token can also come alone, as <code>Authorization: Bearer …</code>, if this server accepts bearer tokens of one provider only; otherwise add <code>X-Auth-Service-Provider</code>. An optional field <code>alt</code> describes the media for people who cannot see it, in at most 1,500 characters.</p>
<pre><code>curl ${gateway}/2/upload.json \\
  -H 'X-Auth-Service-Provider: https://id.example/verify.json' \\
  -H "X-Verify-Credentials-Authorization: Bearer $TOKEN" \\
  -H 'Idempotency-Key: "a1b2c3"' \\
  -F key=YOUR_API_KEY \\
  -F message='At the sea' \\
  -F media=@photo.jpg</code></pre>
<p>Status 200: the upload is published, and the response is its record. For XML, use <code>.xml</code> in the path.</p>
<pre><code>{
  "id": "Ab3dE6gH9j",
  "text": "At the sea",
  "url": "${publicSite}/Ab3dE6gH9j",
  "width": 4000,
  "height": 3000,
  "size": 2483021,
  "type": "jpg",
  "timestamp": "Sat, 21 Nov 2026 11:36:34 +0000",
  "user": { "id": 12345, "screen_name": "ada" }
}</code></pre>
<p>Repeat an upload with the same <code>Idempotency-Key</code> (any quoted string, new for each upload) if the response was lost: within 24 hours it returns the same record.</p>
<p>Programs need not do this by hand: the npm package <code>@echodrop/client</code> is a library for JavaScript and a command line, and the OpenAPI document is at <a href="${gateway}/openapi.json"><code>${gateway}/openapi.json</code></a>.</p>

<h2>Errors</h2>
<p>Any other status comes with a reason, in the format of the request. Rely on the reason; messages may change. Words in braces stand for what was wrong in the request. If <code>Retry-After</code> is there, try again after that many seconds.</p>
<pre><code>{"errors":[{"code":401,"reason":"credentials_refused","message":"${refusals.credentials_refused[1].provider}"}]}</code></pre>
${reasons}

<h2>List and delete</h2>
<p>With the same two headers, users list their own uploads, newest first, and delete one. The list has <code>media</code> and, if there are older uploads, the cursor <code>next</code>: send it as <code>after</code>. <code>count</code> limits the list, up to 100. Status 204: the upload is deleted.</p>
<pre><code>curl ${gateway}/2/media.json \\
  -H 'X-Auth-Service-Provider: https://id.example/verify.json' \\
  -H "X-Verify-Credentials-Authorization: Bearer $TOKEN"
curl -X DELETE ${gateway}/2/media/Ab3dE6gH9j \\
  -H 'X-Auth-Service-Provider: https://id.example/verify.json' \\
  -H "X-Verify-Credentials-Authorization: Bearer $TOKEN"</code></pre>

<h2>Upload, version 1</h2>
<p>For old applications only. The form carries the four secrets instead of headers. They must precede the file; otherwise a large file is refused. The record is the same.</p>
<pre><code>curl ${gateway}/1/upload.xml \\
  -F key=YOUR_API_KEY \\
  -F consumer_token=… -F consumer_secret=… \\
  -F oauth_token=… -F oauth_secret=… \\
  -F message='At the sea' \\
  -F media=@photo.jpg</code></pre>

${publicAddresses(publicSite)}${upload && ownPageHelp(canSignIn(upload))}</div>`,
  };
}

const reasons = html`<dl>
${Object.entries(refusals).map(
  ([reason, [status]]) => html`<dt>${status} <code>${reason}</code></dt>
${messagesOf(reason as Reason).map((each) => html`<dd>${each}</dd>\n`)}`,
)}</dl>`;

function ownPageHelp(canList: boolean): Html {
  return html`<h2>Pages for uploading</h2>
<dl>
<dt><a href="/upload"><code>/upload</code></a></dt>
<dd>Uploads photos and videos from a browser.</dd>
${canList ? listPages : undefined}</dl>
`;
}

const listPages = html`<dt><a href="/mine"><code>/mine</code></a></dt>
<dd>Lists and deletes one's own uploads.</dd>
<dt><a href="/mine/apps"><code>/mine/apps</code></a></dt>
<dd>Makes configuration files for ShareX, Flameshot, Spectacle, grim, Shortcuts and curl.</dd>
`;

function publicAddresses(publicSite: string): Html {
  return html`<h2>Public addresses</h2>
<dl>
<dt><code>${publicSite}/&lt;id&gt;</code></dt>
<dd>The page of a photo or video: <code>url</code> in its record.</dd>
<dt><code>/&lt;id&gt;.jpg</code>, <code>.png</code>, <code>.gif</code>, <code>.webp</code>, <code>.avif</code>, <code>.mp4</code></dt>
<dd>The picture or video itself. Other extensions redirect to the right one. Every video is an MP4; its <code>.jpg</code> is its poster.</dd>
<dt><code>/&lt;id&gt;/large.jpg</code>, <code>/&lt;id&gt;/large.webp</code></dt>
<dd>At most 1200 pixels on the longer side.</dd>
<dt><code>/&lt;id&gt;/medium.jpg</code>, <code>/&lt;id&gt;/medium.webp</code></dt>
<dd>At most 640.</dd>
<dt><code>/&lt;id&gt;/small.jpg</code></dt>
<dd>At most 320.</dd>
<dt><code>/&lt;id&gt;/thumb.jpg</code>, <code>/&lt;id&gt;/mini.jpg</code></dt>
<dd>Squares of 150 and 75 pixels.</dd>
<dt><code>/show/&lt;thumb, mini, large or full&gt;/&lt;id&gt;</code></dt>
<dd>The same, for old applications.</dd>
<dt><code>/&lt;id&gt;/player</code></dt>
<dd>A video alone, for frames in other sites.</dd>
</dl>
<p>After a deletion, all of them respond 410. While a picture or video is being processed, its address responds 503 with <code>Retry-After</code>.</p>

<h2>oEmbed</h2>
<p>For sites that embed links: photos, and videos as an <code>iframe</code>. For XML, use <code>format=xml</code>.</p>
<pre><code>curl '${publicSite}/oembed?url=${encodeURIComponent(`${publicSite}/`)}Ab3dE6gH9j&amp;format=json'</code></pre>
`;
}
