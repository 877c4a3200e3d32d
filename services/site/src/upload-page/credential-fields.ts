import { type Html, html } from '../pages/html.ts';
import { type FieldName, fieldLabels, type Prefill } from './prefill.ts';

const signing = ['consumerKey', 'consumerSecret', 'token', 'tokenSecret'] as const;
const secrets: ReadonlySet<FieldName> = new Set(['consumerSecret', 'tokenSecret', 'bearer']);

/** The section in which people type credentials instead of signing in. */
export function credentialFields(prefill: Prefill, { canSignIn }: { readonly canSignIn: boolean }): Html {
  const usesBearer = Boolean(prefill.bearer) && !prefill.token;
  const isClosed = canSignIn || isComplete(prefill, usesBearer);
  return html`<details id="advanced"${isClosed ? undefined : html` open`}>
<summary>${canSignIn ? 'Advanced: upload with credentials' : 'Credentials'}</summary>
<fieldset id="typed">
<legend class="unseen">Credentials</legend>
${field('provider', prefill, html` type="url" aria-describedby="provider-hint"`)}
<p class="hint" id="provider-hint">The provider’s credential check address. Nothing you type is stored. With OAuth 1.0a, only a signature is sent, never the secrets.</p>
<fieldset class="proof">
<legend>Credential type</legend>
${proof('oauth', 'OAuth 1.0a', !usesBearer)} ${proof('bearer', 'Bearer token', usesBearer)}
</fieldset>
<fieldset id="with-oauth" class="secrets"${hiddenUnless(!usesBearer)}>
<legend class="unseen">OAuth 1.0a</legend>
${signing.map((name) => field(name, prefill))}</fieldset>
<fieldset id="with-bearer" class="secrets"${hiddenUnless(usesBearer)}>
<legend class="unseen">Bearer token</legend>
${field('bearer', prefill)}</fieldset>
</fieldset>
${field('apiKey', prefill)}</details>`;
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
