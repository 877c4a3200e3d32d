import { unsupportedSentences } from '@echodrop/contracts/refusal-statuses-and-messages';
import { contentTypeOf, mediaTypes } from '@echodrop/media/detect-media-type';
import { maxAltCharacters } from '@echodrop/record';
import { knownExtensions } from '../find/direct-address.ts';
import { type Html, html } from '../pages/html.ts';
import type { Page } from '../pages/page.ts';
import { scriptsMissing } from '../pages/scripts-missing.ts';
import { signedInPolicy, signInScripts, signInSection } from '../sign-in/sign-in-page.ts';
import type { WebUpload } from '../site.ts';
import { credentialFields } from './credential-fields.ts';

const otherExtensions =
  'jfif jpe pjp pjpeg mpo apng hif heics avifs dib qt f4v 3gpp 3gpp2 divx m1v m2v mpe vob mts m2ts ogg ogm asf';

// As browsers name them. Most files are known by their extension.
const otherContentTypes =
  'image/jpg image/pjpeg image/apng image/heif image/heic-sequence image/heif-sequence image/x-ms-bmp image/x-bmp ' +
  'video/x-m4v video/3gpp2 video/x-matroska video/avi video/vnd.avi video/msvideo video/x-ms-asf application/ogg';

/** The extensions of files that the page sends, whatever their type. */
const acceptedExtensions: readonly string[] = [...knownExtensions, ...otherExtensions.split(' ')];

/** The content types of files with another extension, or none, that the page sends. */
const acceptedContentTypes: readonly string[] = [...mediaTypes.map(contentTypeOf), ...otherContentTypes.split(' ')];

/** The page at `/upload`: its script sends each file to the gateway like any other client. */
export function uploadPage(upload: WebUpload, siteName: string): Page {
  const { signIn, maxBytes, apiKey } = upload;
  const canSignIn = signIn.length > 0;
  return {
    title: `Upload · ${siteName}`,
    policy: signedInPolicy(upload),
    head: html`${signInScripts}<link rel="stylesheet" href="/upload/upload.css">
<script src="/upload/page.js" type="module"></script>
`,
    body: html`<div class="text upload">
<h1>Upload</h1>
<p class="lead">Photos and videos, each with a caption. Everyone who has a link can see the file, and from there a list of all your uploads.</p>
${scriptsMissing(html`Uploading from this page requires JavaScript. Without JavaScript, <a href="/documentation">upload from the command line</a>.`)}
${signInSection(upload)}
<form id="upload" autocomplete="off"${canSignIn ? html` data-has-sign-in` : undefined} data-max-bytes="${maxBytes}" data-extensions="${acceptedExtensions.join(' ')}" data-content-types="${acceptedContentTypes.join(' ')}" data-unsupported="${unsupportedSentences.unknown_type}">
${credentialFields({ apiKey, canSignIn })}
<fieldset id="fields" hidden disabled>
<legend class="unseen">Files</legend>
${chooser()}
<ul id="files" aria-label="Chosen files"></ul>
<p class="ways"><button class="button main" type="submit" id="submit">Upload</button></p>
</fieldset>
</form>
<div class="refusal" id="refusal" role="alert"></div>
<p class="news" id="news" role="status"></p>
<div id="sending" hidden>
<progress id="progress" aria-label="Progress of all files" max="1" value="0"></progress>
<p id="sent"></p>
<p><button class="button" type="button" id="cancel">Cancel all</button></p>
</div>
<section id="done" aria-labelledby="done-name" hidden>
<h2 id="done-name" tabindex="-1">New uploads</h2>
<ul id="published"></ul>
</section>
</div>
${rowTemplates}`,
  };
}

function chooser(): Html {
  const accept = ['image/*', 'video/*', ...acceptedExtensions.map((extension) => `.${extension}`)].join();
  return html`<div class="drop" id="drop">
<p><label for="media">Photos and videos</label>
<input id="media" type="file" accept="${accept}" multiple aria-describedby="media-hint"></p>
<p class="camera"><input class="unseen" id="camera" type="file" accept="image/*" capture="environment">
<label class="button" for="camera">Take a photo</label></p>
<p class="hint" id="media-hint">Choose files, or drop or paste them on this page.</p>
</div>`;
}

// The scripts clone them.
const rowTemplates = html`<template id="file-row"><li class="file">
<div class="preview" hidden></div>
<fieldset tabindex="-1">
<legend class="name"></legend>
<p class="hint size"></p>
<div class="texts">
<p class="field"><label>Caption <textarea name="message" rows="2" dir="auto"></textarea></label></p>
<p class="field"><label>Alternative text: what it shows, for people who cannot see it <textarea name="alt" rows="2" dir="auto" data-max-characters="${maxAltCharacters}"></textarea></label></p>
</div>
<progress max="1" value="0" hidden></progress>
<p class="state"></p>
<p><button class="button" type="button"></button></p>
</fieldset>
</li></template>
<template id="published-row"><li class="file">
<div class="preview"></div>
<div>
<p class="link"><a dir="auto"></a></p>
<p class="ways codes"></p>
</div>
</li></template>`;
