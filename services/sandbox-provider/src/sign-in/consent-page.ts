import { htmlEscape } from 'escape-goat';
import { htmlPage } from '../html-page.ts';
import type { SandboxUser } from '../users.ts';
import type { AuthorizationRequest } from './grants.ts';

const maxShown = 50;

/** Asks the user, without a password, who they are and whether an application may sign them in. `id` is that of the request. */
export function consentPage(
  id: string,
  { client, redirectUri, scope }: AuthorizationRequest,
  users: readonly SandboxUser[],
): string {
  const choices = users.slice(0, maxShown).map(({ screenName, name }, i) => {
    const checked = i === 0 ? ' checked' : '';
    return htmlEscape`<label class="choice"><input type="radio" name="user" value="${screenName}"${checked}> ${name} (${screenName})</label>`;
  });
  return htmlPage(
    'Sign in',
    `<section>
${htmlEscape`<p><strong>${client.name}</strong> at <code>${new URL(redirectUri).origin}</code> wants to know who you are (scope <code>${scope}</code>).</p>`}
<form method="post" action="/oauth/authorize">
${htmlEscape`<input type="hidden" name="request" value="${id}">`}
<fieldset><legend>Sign in as</legend>
${choices.join('\n')}
</fieldset>
<button name="decision" value="allow">Allow</button>
<button class="secondary" name="decision" value="deny">Deny</button>
</form>
</section>`,
  );
}

/** Says why a sign-in cannot go on. It never redirects: the address to return to is unknown or untrusted. */
export function signInErrorPage(reason: string): string {
  return htmlPage('Sign-in failed', htmlEscape`<section><p>${reason}</p></section>`);
}
