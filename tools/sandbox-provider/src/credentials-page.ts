import { htmlEscape } from 'escape-goat';
import { type BehaviourName, behaviourNames, behaviours, largestWaitSeconds } from './behaviours.ts';
import { canHoldForm } from './from-elsewhere.ts';
import { matrixId } from './profiles/matrix.ts';
import { identityProvidersAt, profileEntries } from './profiles/profiles.ts';
import type { Switch } from './switch-behaviour.ts';
import type { Accounts, Consumer, SandboxUser } from './users.ts';

interface Shown {
  readonly accounts: Accounts;
  /** Where the page was asked for. */
  readonly address: URL;
  readonly state: Readonly<Switch>;
}

const mostShown = 20;

// In this file every value goes into markup through htmlEscape; plain templates join markup alone.

/** The page at `/`: how the sandbox behaves, which credentials it takes, and at which addresses. */
export function credentialsPage({ accounts: { consumers, users }, address, state }: Shown): string {
  const { origin } = address;
  const addresses = profileEntries.map(([name, { path, proof }]) => {
    const by = proof === 'signature' ? 'signed' : 'bearer token';
    return htmlEscape`<dt>${name}, ${by}</dt><dd><code>${origin}${path}</code></dd>`;
  });
  const setting = `IDENTITY_PROVIDERS='${identityProvidersAt(origin).join(',\n')}'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sandbox identity provider</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1>Sandbox identity provider</h1>
<p>It stands in for every kind of identity provider that Echodrop asks, for trying things out and for tests. Nothing that it knows is a secret. Signed requests are those of OAuth 1.0a, with HMAC-SHA1.</p>
<section>
<h2>Who it knows</h2>
${consumers.slice(0, mostShown).map(consumerCard).join('\n')}
${users
  .slice(0, mostShown)
  .map((user) => userCard(user, address))
  .join('\n')}
${rest(consumers.length, 'applications')}${rest(users.length, 'users')}
</section>
<section>
<h2>Where it answers</h2>
<dl>${addresses.join('\n')}</dl>
<p>For Echodrop to ask it:</p>
${htmlEscape`<pre>${setting}</pre>`}
</section>
<section id="behaviour">
<h2>How it behaves</h2>
${htmlEscape`<p class="${state.behaviour === 'normal' ? 'now' : 'now strange'}">Now <strong>${state.behaviour}</strong>: it ${doing(state)}.</p>`}
${canHoldForm(address) ? form(state) : '<p>At this address it can be told otherwise by a program only:</p>'}
${htmlEscape`<pre>curl -d behaviour=slow -d seconds=10 ${origin}/behaviour</pre>`}
</section>
</main>
</body>
</html>
`;
}

function consumerCard({ key, secret }: Consumer): string {
  return `<h3>An application</h3>
${htmlEscape`<dl><dt>consumer key</dt><dd><code>${key}</code></dd><dt>consumer secret</dt><dd><code>${secret}</code></dd></dl>`}`;
}

function userCard(user: SandboxUser, address: URL): string {
  const tokens = user.oauthTokens.map(
    ({ token, secret }) =>
      htmlEscape`<dt>token</dt><dd><code>${token}</code></dd><dt>token secret</dt><dd><code>${secret}</code></dd>`,
  );
  const bearers = user.bearerTokens.map((token) => htmlEscape`<dt>bearer token</dt><dd><code>${token}</code></dd>`);
  return `${htmlEscape`<h3>User ${user.screenName}</h3>`}
<dl>${htmlEscape`<dt>id</dt><dd><code>${user.id.toString()}</code>, in Matrix <code>${matrixId(user, address)}</code></dd>`}
${[...tokens, ...bearers].join('\n')}</dl>`;
}

function rest(count: number, what: string): string {
  return count > mostShown ? htmlEscape`<p>And ${count - mostShown} more ${what}.</p>` : '';
}

function form({ behaviour, slowSeconds }: Readonly<Switch>): string {
  const options = behaviourNames.map((name) =>
    name === behaviour
      ? htmlEscape`<option value="${name}" selected>${name}: ${behaviours[name].does}</option>`
      : htmlEscape`<option value="${name}">${name}: ${behaviours[name].does}</option>`,
  );
  return `<form method="post" action="/behaviour">
<label>Behaviour <select name="behaviour">${options.join('')}</select></label>
${htmlEscape`<label>Seconds, when slow <input name="seconds" type="number" min="1" max="${largestWaitSeconds}" value="${slowSeconds}" required></label>`}
<button>Change</button>
</form>`;
}

function doing({ behaviour, slowSeconds }: Readonly<Switch>): string {
  const late: Partial<Record<BehaviourName, string>> = { slow: `answers after ${slowSeconds} s` };
  return late[behaviour] ?? behaviours[behaviour].does;
}
