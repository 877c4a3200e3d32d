import { htmlEscape } from 'escape-goat';
import { behaviourNames, behaviours, maxSlowSeconds } from './behaviours.ts';
import { htmlPage } from './html-page.ts';
import { identityProvidersAt, matrixId, profileEntries, signInProvidersAt } from './profiles.ts';
import { type BehaviourState, canHoldForm } from './switch-behaviour.ts';
import type { Accounts, SandboxUser } from './users.ts';

interface Options {
  readonly accounts: Accounts;
  /** The requested address of the page. */
  readonly address: URL;
  readonly state: Readonly<BehaviourState>;
}

const maxShown = 20;

// In this file, values enter markup through htmlEscape only; plain templates join markup.

/** The page at `/`: accounts, endpoints and the current behaviour. */
export function credentialsPage({ accounts: { consumers, users }, address, state }: Options): string {
  const { origin } = address;
  const addresses = profileEntries.map(([name, { path, proof }]) => {
    const kind = proof === 'signature' ? 'signed' : 'bearer token';
    return htmlEscape`<dt>${name}, ${kind}</dt><dd><code>${origin}${path}</code></dd>`;
  });
  const setting = `IDENTITY_PROVIDERS='${identityProvidersAt(origin).join(',\n')}'`;
  const signIn = `WEB_SIGN_IN='${JSON.stringify(signInProvidersAt(origin), undefined, 1)}'`;
  return htmlPage(
    'Sandbox identity provider',
    `<p>Implements every profile of identity providers that Echodrop supports, for development and tests. Nothing here is secret. Signed requests use OAuth 1.0a with HMAC-SHA1.</p>
<section>
<h2>Accounts</h2>
${consumers.slice(0, maxShown).map(consumerCard).join('\n')}
${users
  .slice(0, maxShown)
  .map((user) => userCard(user, address))
  .join('\n')}
${rest(consumers.length, 'applications')}${rest(users.length, 'users')}
</section>
<section>
<h2>Endpoints</h2>
<dl>${addresses.join('\n')}</dl>
<p>Settings for Echodrop:</p>
${htmlEscape`<pre>${setting}</pre>`}
${htmlEscape`<pre>${signIn}</pre>`}
</section>
<section id="behaviour">
<h2>Behaviour</h2>
${htmlEscape`<p class="${state.behaviour === 'normal' ? 'now' : 'now strange'}">Now <strong>${state.behaviour}</strong>: it ${describe(state)}.</p>`}
${canHoldForm(address) ? form(state) : '<p>At this address, only programs can change it:</p>'}
${htmlEscape`<pre>curl -d behaviour=slow -d seconds=10 ${origin}/behaviour</pre>`}
</section>`,
  );
}

function consumerCard({ key, secret }: Accounts['consumers'][number]): string {
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
  return count > maxShown ? htmlEscape`<p>And ${count - maxShown} more ${what}.</p>` : '';
}

function form({ behaviour, slowSeconds }: Readonly<BehaviourState>): string {
  const options = behaviourNames.map((name) => {
    const selected = name === behaviour ? ' selected' : '';
    return htmlEscape`<option value="${name}"${selected}>${name}: ${behaviours[name].does}</option>`;
  });
  return `<form method="post" action="/behaviour">
<label>Behaviour <select name="behaviour">${options.join('')}</select></label>
${htmlEscape`<label>Seconds if slow <input name="seconds" type="number" min="1" max="${maxSlowSeconds}" value="${slowSeconds}" required></label>`}
<button>Change</button>
</form>`;
}

function describe({ behaviour, slowSeconds }: Readonly<BehaviourState>): string {
  return behaviour === 'slow' ? `responds after ${slowSeconds} s` : behaviours[behaviour].does;
}
