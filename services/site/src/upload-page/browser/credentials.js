// @ts-check
import { element } from '/scripts/elements.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { credentialHeaders, currentSession } from '/sign-in/session.js';
import { signedGet } from './authorization.js';

const form = element('upload', HTMLFormElement);
const advanced = element('advanced', HTMLDetailsElement);
const typedFields = element('typed', HTMLFieldSetElement);
const fields = element('fields', HTMLFieldSetElement);

/** Shows what an upload needs: after signing in nothing but the files, and the API key if the site has none. Else the typed credentials. */
export function enableCredentials() {
  form.addEventListener('change', showProof);
  advanced.addEventListener('toggle', showFields);
  // An invalid field is only visible if its section is open.
  form.addEventListener('invalid', openSection, { capture: true });
  if (isSignedIn()) {
    const hasKey = pageSettings().apiKey !== undefined;
    typedFields.hidden = typedFields.disabled = true;
    advanced.hidden = element('apiKey', HTMLInputElement).disabled = hasKey;
    advanced.open = !hasKey;
  }
  showProof();
  showFields();
}

/** Whether the person has signed in, or types credentials. */
export function canUpload() {
  return !fields.hidden;
}

export function isSignedIn() {
  return currentSession() !== undefined;
}

/** Whether the session has ended outside this page, as when a person clears the data of the site. */
export function hasLostSession() {
  return typedFields.disabled && !isSignedIn();
}

/** The API key, and the two headers of version 2 (docs/reference/interface.md section 4.1). An OAuth signature is new each time. */
export function credentials() {
  const session = currentSession();
  if (session) return { key: pageSettings().apiKey ?? readField('apiKey'), headers: credentialHeaders(session) };
  return { key: readField('apiKey'), headers: typedHeaders() };
}

function typedHeaders() {
  const provider = readField('provider');
  const proof = {
    consumerKey: readField('consumerKey'),
    consumerSecret: readField('consumerSecret'),
    token: readField('token'),
    tokenSecret: readField('tokenSecret'),
  };
  return {
    'X-Auth-Service-Provider': provider,
    'X-Verify-Credentials-Authorization':
      readField('proof') === 'bearer' ? `Bearer ${readField('bearer')}` : signedGet(provider, proof),
  };
}

/** @param {string} name */
function readField(name) {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}

function showProof() {
  const proof = readField('proof');
  for (const kind of ['oauth', 'bearer']) {
    const secrets = element(`with-${kind}`, HTMLFieldSetElement);
    secrets.hidden = secrets.disabled = kind !== proof;
  }
}

function showFields() {
  const canSignIn = 'hasSignIn' in form.dataset;
  fields.hidden = fields.disabled = !isSignedIn() && canSignIn && !advanced.open;
}

/** @param {Event} invalid */
function openSection({ target }) {
  if (target instanceof Element) target.closest('details')?.setAttribute('open', '');
}
