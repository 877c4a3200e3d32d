import { htmlEscape } from 'escape-goat';
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
  return page(
    'Sign in',
    `${htmlEscape`<p><strong>${client.name}</strong> at <code>${new URL(redirectUri).origin}</code> wants to know who you are (scope <code>${scope}</code>).</p>`}
<form method="post" action="/oauth/authorize">
${htmlEscape`<input type="hidden" name="request" value="${id}">`}
<fieldset><legend>Sign in as</legend>
${choices.join('\n')}
</fieldset>
<button name="decision" value="allow">Allow</button>
<button class="secondary" name="decision" value="deny">Deny</button>
</form>`,
  );
}

/** Says why a sign-in cannot go on. It never redirects: the address to return to is unknown or untrusted. */
export function signInErrorPage(reason: string): string {
  return page('Sign-in failed', htmlEscape`<p>${reason}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${htmlEscape`<title>${title} · Sandbox identity provider</title>`}
<link rel="stylesheet" href="/sandbox.css">
</head>
<body>
<main>
${htmlEscape`<h1>${title}</h1>`}
<section>
${body}
</section>
</main>
</body>
</html>
`;
}
