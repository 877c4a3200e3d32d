import { element } from '/scripts/elements.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { currentSession } from '/sign-in/session.js';

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

/** The service, the API key, and the proof of the user: the session, or what the fields have. */
export function clientOptions() {
  const { upload: service, apiKey } = pageSettings();
  const session = currentSession();
  if (!session)
    return { service, apiKey: readField('apiKey'), provider: readField('provider'), credentials: typedCredentials() };
  const { provider, token } = session;
  return { service, apiKey: apiKey ?? readField('apiKey'), provider, credentials: { bearer: token } };
}

function typedCredentials() {
  if (readField('proof') === 'bearer') return { bearer: readField('bearer') };
  return {
    consumerKey: readField('consumerKey'),
    consumerSecret: readField('consumerSecret'),
    token: readField('token'),
    tokenSecret: readField('tokenSecret'),
  };
}

function readField(name: string) {
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

function openSection({ target }: Event) {
  if (target instanceof Element) target.closest('details')?.setAttribute('open', '');
}
