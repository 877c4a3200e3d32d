import type { Site } from '../site.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

/** What stands at `/documentation`: what people need to know who make an application that uploads (docs/interface.md). */
export function documentationPage({ name, publicSite, upload }: Pick<Site, 'name' | 'publicSite' | 'upload'>): Page {
  const gateway = upload?.address ?? 'https://upload.example';
  return {
    title: `For developers · ${name}`,
    body: html`<div class="text">
<h1>For developers</h1>
<p class="lead">Upload a photo or a video with a message, and get a record of it as XML or JSON.</p>
<p>The people who run this site tell you where to upload (here <code>${gateway}</code>), the API key of your application, and the identity providers that they know.</p>

<h2>Upload</h2>
<p>A form (<code>multipart/form-data</code>) with <code>key</code>, <code>message</code> (the caption, which everyone can read, and which may be empty) and <code>media</code> (the file). Two headers say who the user is: the address at which the provider verifies credentials, and the <code>OAuth …</code> header that you would send there (OAuth Echo), here in a variable.</p>
<pre><code>curl ${gateway}/2/upload.json \\
  -H 'X-Auth-Service-Provider: https://id.example/verify.json' \\
  -H "X-Verify-Credentials-Authorization: $OAUTH_HEADER" \\
  -F key=YOUR_API_KEY \\
  -F message='At the sea' \\
  -F media=@photo.jpg</code></pre>
<p>Status 200 means that it is published; the answer is the record. For XML the path ends in <code>.xml</code>.</p>
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
<p>Any other status is a refusal, and says why: 400 for a form that lacks something, 401 for credentials or a key that cannot be verified, 403 for whom uploads are not taken, 413 for a file that is too large, 415 for one that is no photo or video; 429 and 503 come with <code>Retry-After</code>.</p>

<h2>List and remove</h2>
<p>With the same two headers users list their own uploads, newest first, and remove one. The list has <code>media</code> and, where there are older ones, <code>next</code>, to be sent as <code>after</code>; <code>count</code> is how many you want, up to 100. Status 204 means that the upload is gone.</p>
<pre><code>curl ${gateway}/2/media.json \\
  -H 'X-Auth-Service-Provider: https://id.example/verify.json' \\
  -H "X-Verify-Credentials-Authorization: $OAUTH_HEADER"
curl -X DELETE ${gateway}/2/media/Ab3dE6gH9j \\
  -H 'X-Auth-Service-Provider: https://id.example/verify.json' \\
  -H "X-Verify-Credentials-Authorization: $OAUTH_HEADER"</code></pre>

<h2>Upload, version 1</h2>
<p>For old applications only: no headers, but the four secrets as fields of the form, before the file: a large file in front of them is refused. It gives the same record.</p>
<pre><code>curl ${gateway}/1/upload.xml \\
  -F key=YOUR_API_KEY \\
  -F consumer_token=… -F consumer_secret=… \\
  -F oauth_token=… -F oauth_secret=… \\
  -F message='At the sea' \\
  -F media=@photo.jpg</code></pre>

<h2>Public addresses</h2>
<dl>
<dt><code>${publicSite}/&lt;id&gt;</code></dt>
<dd>The page of a photo or video, as <code>url</code> in its record has it.</dd>
<dt><code>/&lt;id&gt;.jpg</code>, <code>.png</code>, <code>.gif</code>, <code>.webp</code>, <code>.avif</code>, <code>.mp4</code></dt>
<dd>The picture or video itself. What has another type leads to the right one; every video is an MP4, and its <code>.jpg</code> is its poster.</dd>
<dt><code>/&lt;id&gt;/large.jpg</code>, <code>/&lt;id&gt;/large.webp</code></dt>
<dd>At most 1200 pixels on its longer side.</dd>
<dt><code>/&lt;id&gt;/medium.jpg</code>, <code>/&lt;id&gt;/medium.webp</code></dt>
<dd>At most 640.</dd>
<dt><code>/&lt;id&gt;/small.jpg</code></dt>
<dd>At most 320.</dd>
<dt><code>/&lt;id&gt;/thumb.jpg</code>, <code>/&lt;id&gt;/mini.jpg</code></dt>
<dd>Squares of 150 and 75 pixels.</dd>
<dt><code>/show/&lt;thumb, mini, large or full&gt;/&lt;id&gt;</code></dt>
<dd>The same, as old applications spell it.</dd>
<dt><code>/&lt;id&gt;/player</code></dt>
<dd>A video alone: the one page that may be framed.</dd>
</dl>
<p>All of them answer 410 once something was taken down. A picture or video that is still being processed answers 503 with <code>Retry-After</code>.</p>

<h2>oEmbed</h2>
<p>For sites that show what others link to. Photos, and videos with an <code>iframe</code>; <code>format=xml</code> gives XML.</p>
<pre><code>curl '${publicSite}/oembed?url=${encodeURIComponent(`${publicSite}/`)}Ab3dE6gH9j&amp;format=json'</code></pre>
</div>`,
  };
}
