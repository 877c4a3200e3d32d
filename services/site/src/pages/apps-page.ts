import { signedInPolicy, signInScripts, signInSection } from '../sign-in/sign-in-page.ts';
import type { WebUpload } from '../site.ts';
import { type Html, html } from './html.ts';
import type { Page } from './page.ts';
import { scriptsMissing } from './scripts-missing.ts';

/** The page at `/mine/apps`: `browser/mine/app-files.ts` makes files with which other programs upload. Their token never leaves the browser. */
export function appsPage(upload: WebUpload, siteName: string): Page {
  return {
    title: `Upload from other programs · ${siteName}`,
    policy: signedInPolicy(upload),
    robots: 'noindex',
    head: html`${signInScripts}<link rel="stylesheet" href="/upload/upload.css">
<script src="/mine/apps.js" type="module"></script>
`,
    body: html`<div class="text upload">
<h1>Upload from other programs</h1>
<p class="lead">Screenshots and photos, straight from the program that takes them.</p>
${scriptsMissing(html`This page requires JavaScript: your browser makes the files. <a href="/documentation">For developers</a> describes the requests.`)}
${signInSection(upload)}
<div class="refusal" id="refusal" role="alert"></div>
<div id="apps" hidden>
<p class="warning">Every file, script and command on this page contains your token. Anyone who has one of them can upload, list and delete as you. Keep them private.</p>
${upload.apiKey ? undefined : html`<p class="warning">This site publishes no API key. Replace <code>YOUR_API_KEY</code> by the key from its operator.</p>\n`}<p>The files work until the token expires<span id="expiry"></span>. Then sign in and download them again. They also stop working, within a minute, if you sign out: to keep them, close this tab instead. This browser makes the files, and the server never gets them.</p>
${shareX}
${screenshotScript}
${shortcut}
${curl}
${windowsCurl}
</div>
</div>`,
  };
}

const shareX = html`<section aria-labelledby="sharex">
<h2 id="sharex">ShareX (Windows)</h2>
<p>Download the file and open it: ShareX asks whether to make it your uploader for pictures and files. To change it later, open Destinations, then Custom uploader settings.</p>
${file('sharex', 'the ShareX file')}
</section>`;

const screenshotScript = html`<section aria-labelledby="script">
<h2 id="script">Flameshot, Spectacle and grim (Linux)</h2>
<p>A shell script that needs curl 7.71 or newer. It uploads a file or takes a screenshot, prints the link, and copies it with wl-copy or xclip.</p>
${file('script', 'the script')}
<p>Save it as <code>~/.local/bin/echodrop-upload</code> and make it executable for you alone:</p>
<pre><code>chmod 700 ~/.local/bin/echodrop-upload
echodrop-upload flameshot</code></pre>
<p>To start it with a keyboard shortcut, add one in the keyboard settings of your desktop, with the command <code>echodrop-upload flameshot</code>, <code>echodrop-upload spectacle</code> or <code>echodrop-upload grim</code>. In Flameshot, press Enter or the check mark after you have selected an area. Spectacle and grim upload the selected area at once; grim needs slurp.</p>
</section>`;

const shortcut = html`<section aria-labelledby="shortcut">
<h2 id="shortcut">Shortcuts (iPhone and iPad)</h2>
<p>In the Shortcuts app, make a new shortcut. Open its details and turn on “Show in Share Sheet”. Then add these actions:</p>
<ol>
<li><strong>Receive</strong> Images and Media from the Share Sheet.</li>
<li><strong>Ask&nbsp;for Input</strong>: Text, with the prompt “Caption”.</li>
<li><strong>Get Contents of URL</strong>, with the URL ${value('address', 'address')}
<p>Open “Show More”. Set Method to POST, and add two headers:</p>
<dl id="shortcut-headers">
<dt>X-Auth-Service-Provider</dt><dd>${value('provider', 'provider')}</dd>
<dt>X-Verify-Credentials-Authorization</dt><dd><details><summary>Show the token</summary>${value('authorization', 'token')}</details></dd>
</dl>
<p>Set Request Body to Form, and add three fields:</p>
<dl id="shortcut-fields">
<dt>key</dt><dd>Text: ${value('key', 'API key')}</dd>
<dt>message</dt><dd>Text: the variable Provided Input</dd>
<dt>media</dt><dd>File: the variable Shortcut Input</dd>
</dl></li>
<li><strong>Get Dictionary Value</strong>: the Value for <code>url</code> in Contents of URL.</li>
<li><strong>Copy to Clipboard</strong>: Dictionary Value.</li>
</ol>
<p>After that, share a photo, choose the shortcut, and paste the link where you want it.</p>
</section>`;

const curl = html`<section aria-labelledby="curl">
<h2 id="curl">curl (Linux and macOS)</h2>
<p>A command for bash, zsh and other POSIX shells. Replace the caption and the file name. Other users of the computer can see the token while curl runs; the script above hides it.</p>
${file('curl', 'the command')}
</section>`;

const windowsCurl = html`<section id="windows-curl" aria-labelledby="windows" hidden>
<h2 id="windows">curl (Windows)</h2>
<p>A command for PowerShell and the command prompt of Windows 10 or newer. Replace the caption and the file name.</p>
${file('windows-curl', 'the Windows command')}
</section>`;

function file(id: string, what: string): Html {
  return html`<p class="ways" id="${id}-ways" data-what="${what}"></p>
<details><summary>Show ${what}</summary><pre><code id="${id}-text"></code></pre></details>`;
}

function value(name: string, label: string): Html {
  return html`<code data-value="${name}" data-label="${label}"></code>`;
}
