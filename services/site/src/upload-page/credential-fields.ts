import { type Html, html } from '../pages/html.ts';

const labels = {
  provider: 'Identity provider',
  apiKey: 'API key',
  consumerKey: 'Consumer key',
  consumerSecret: 'Consumer secret',
  token: 'Token',
  tokenSecret: 'Token secret',
  bearer: 'Bearer token',
} as const;

type FieldName = keyof typeof labels;

const signing = ['consumerKey', 'consumerSecret', 'token', 'tokenSecret'] as const;
const secrets: ReadonlySet<FieldName> = new Set(['consumerSecret', 'tokenSecret', 'bearer']);

/** The section in which people type credentials instead of signing in. `apiKey`: the pages' own. */
export function credentialFields({
  apiKey,
  canSignIn,
}: {
  readonly apiKey: string | undefined;
  readonly canSignIn: boolean;
}): Html {
  return html`<details id="advanced"${canSignIn ? undefined : html` open`}>
<summary>${canSignIn ? 'Advanced: upload with credentials' : 'Credentials'}</summary>
<fieldset id="typed">
<legend class="unseen">Credentials</legend>
${field('provider', html` type="url" aria-describedby="provider-hint"`)}
<p class="hint" id="provider-hint">The provider’s credential check address. Nothing you type is stored. With OAuth 1.0a, only a signature is sent, never the secrets.</p>
<fieldset class="proof">
<legend>Credential type</legend>
<label><input type="radio" name="proof" value="oauth" checked> OAuth 1.0a</label> <label><input type="radio" name="proof" value="bearer"> Bearer token</label>
</fieldset>
<fieldset id="with-oauth" class="secrets">
<legend class="unseen">OAuth 1.0a</legend>
${signing.map((name) => field(name))}</fieldset>
<fieldset id="with-bearer" class="secrets" hidden disabled>
<legend class="unseen">Bearer token</legend>
${field('bearer')}</fieldset>
</fieldset>
${field('apiKey', typeOf('apiKey'), apiKey)}</details>`;
}

function field(name: FieldName, attributes: Html = typeOf(name), value = ''): Html {
  return html`<p class="field"><label for="${name}">${labels[name]}</label><input id="${name}" name="${name}" value="${value}"${attributes} required autocomplete="off" spellcheck="false" autocapitalize="none"></p>\n`;
}

function typeOf(name: FieldName): Html {
  return secrets.has(name) ? html` type="password"` : html` type="text"`;
}
