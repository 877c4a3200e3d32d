import { randomBytes } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { axeViolations } from '@echodrop/testkit/browser/accessibility';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { openTab, stopClock, type WatchedTab } from '@echodrop/testkit/browser/watched-tab';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { dumpRedis } from '@echodrop/testkit/servers/dump-redis';
import { type MastodonStandIn, startMastodonStandIn } from '@echodrop/testkit/sign-in/mastodon-stand-in';
import { type OidcStandIn, startOidcStandIn } from '@echodrop/testkit/sign-in/oidc-stand-in';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

// Unique markers to search for.
const tokens = { town: marked(), hall: marked() };
const webKey = 'the-key-of-the-pages';
const advice = 'Try again later. If it fails again, report it to the operator of this site.';

function marked(): string {
  return `m${randomBytes(10).toString('hex')}`;
}

interface PublicProvider {
  readonly name: string;
  readonly redirectPath: string;
}

await describeWithBrowser('signing in', (browser) => {
  const parts = new AsyncDisposableStack();
  let town: MastodonStandIn;
  let hall: OidcStandIn;
  let stack: Stack;
  let photo: Buffer;
  let redirectPaths: ReadonlyMap<string, string>;

  beforeAll(async () => {
    town = parts.use(await startMastodonStandIn(tokens.town));
    hall = parts.use(await startOidcStandIn(tokens.hall));
    const settings = ({ provider }: { provider: string }) => {
      const { origin } = new URL(provider);
      const atSandbox = { mastodon: `${origin}/api/v1/accounts/verify_credentials`, oidc: `${origin}/userinfo` };
      const { issuer } = hall.signIn as { issuer: string };
      const signIn = [
        { name: 'Sandbox', profile: 'mastodon', provider: atSandbox.mastodon },
        { name: 'Sandbox (OpenID)', profile: 'oidc', provider: atSandbox.oidc, issuer: origin, clientId: 'echodrop' },
        town.signIn,
        { ...hall.signIn, origins: [new URL(issuer).origin] },
      ];
      const providers = [`mastodon ${atSandbox.mastodon}`, `oidc ${atSandbox.oidc}`];
      return {
        LOG_LEVEL: 'trace',
        SITE_NAME: 'Bild & Ton',
        WEB_UPLOAD: '1',
        WEB_UPLOAD_API_KEY: webKey,
        WEB_SIGN_IN: JSON.stringify(signIn),
        IDENTITY_PROVIDERS: [...providers, town.identityProvider, hall.identityProvider].join(),
      };
    };
    stack = parts.use(await startStack({ settings }));
    const { providers } = (await (await fetch(`${stack.site}/sign-in/providers.json`)).json()) as {
      providers: PublicProvider[];
    };
    redirectPaths = new Map(providers.map(({ name, redirectPath }) => [name, redirectPath]));
    hall.registerSite(stack.site, redirectPathOf('Town hall'));
    photo = await samplePhoto('jpg', { width: 64, height: 48 });
  });
  afterAll(() => parts.disposeAsync());
  afterEach(() => {
    town.flaw = undefined;
    hall.flaw = undefined;
  });

  async function opened(): Promise<WatchedTab & { readonly seen: string[] }> {
    const watched = await openTab(browser());
    const seen: string[] = [];
    watched.tab.context().on('request', (request) => seen.push(`${request.url()} ${request.headers()['referer']}`));
    await watched.tab.goto(`${stack.site}/upload`);
    return Object.assign(watched, { seen });
  }

  let shared: WatchedTab | undefined;

  /** The upload page in a tab that tests of failures share. It is as new: without registrations, routes and a sign-in in progress. */
  async function sharedTab(): Promise<Page> {
    shared ??= parts.use(await openTab(browser()));
    const { tab } = shared;
    await tab.unrouteAll();
    await tab.goto(`${stack.site}/upload`);
    await tab.evaluate('localStorage.clear(); sessionStorage.clear()');
    return tab;
  }

  const redirectPathOf = (name: string) => redirectPaths.get(name) ?? '';
  const press = (tab: Page, name: string) => tab.getByRole('button', { name, exact: true }).click();
  const signInAt = (tab: Page, name: string) => press(tab, `Sign in with ${name}`);
  const waitForSignedOut = (tab: Page, name: string) =>
    tab.getByRole('button', { name: `Sign in with ${name}`, exact: true }).waitFor();
  // The upload page shows its form once its script listens.
  const waitForForm = (tab: Page) => tab.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  // Until its style sheet applies, a page has the text that appears late, if its scripts do not.
  const alert = (tab: Page) => tab.getByRole('alert').filter({ hasText: /./ }).and(tab.locator(':not(.late)'));
  const missing = (tab: Page) => tab.getByRole('alert').filter({ hasText: /^This page could not load its scripts\. / });

  async function expectSignedIn(tab: Page, sentence: string): Promise<void> {
    await tab.getByText(sentence).waitFor();
    expect(tab.url()).toBe(`${stack.site}/upload`);
  }

  async function signInAtTown(tab: Page): Promise<void> {
    await signInAt(tab, 'Town');
    await expectSignedIn(tab, 'Signed in as Ada <b>L</b> (ada) at Town.');
  }

  async function signOutOfTown(tab: Page): Promise<void> {
    await press(tab, 'Sign out');
    await waitForSignedOut(tab, 'Town');
  }

  /** Uploads a photo. @returns the user name on its page */
  async function upload(tab: Page): Promise<string> {
    await waitForForm(tab);
    await tab
      .getByLabel('Photos and videos', { exact: true })
      .setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer: photo });
    await press(tab, 'Upload');
    await tab.getByRole('heading', { name: 'New uploads' }).waitFor();
    const page = await fetch((await tab.locator('#published a').getAttribute('href')) ?? '');
    return /by <a [^>]*><bdi>([^<]*)</.exec(await page.text())?.[1] ?? '';
  }

  test.each(['Sandbox', 'Sandbox (OpenID)'])(
    '%s: a user signs in, uploads without a key or secret, and signs out',
    async (name) => {
      await using watched = await opened();
      const { tab, problems } = watched;
      expect(await axeViolations(tab)).toEqual([]);
      await signInAt(tab, name);
      await tab.getByLabel('Robin (sandbox)').check();
      expect(await axeViolations(tab)).toEqual([]);
      const fill = (value: string) =>
        tab.evaluate(`getComputedStyle(document.querySelector('[value=${value}]')).backgroundColor`);
      expect(await fill('allow')).not.toBe(await fill('deny'));
      await press(tab, 'Allow');
      await expectSignedIn(tab, `Signed in as Robin (sandbox) at ${name}.`);
      await waitForForm(tab);
      expect(await axeViolations(tab)).toEqual([]);
      const fields = await tab.locator('input:visible, textarea:visible, summary:visible').all();
      expect(await Promise.all(fields.map((field) => field.getAttribute('name')))).toEqual([null]);

      expect(await upload(tab)).toBe(sandbox.screenName);
      const { provider, token } = JSON.parse(await tab.evaluate("sessionStorage.getItem('echodrop.session')"));
      const verify = () => fetch(provider, { headers: { authorization: `Bearer ${token}` } });
      expect((await verify()).status).toBe(200);
      for (const [service, { output }] of Object.entries(stack.services))
        expect([service, output.includes(token)]).toEqual([service, false]);
      await press(tab, 'Sign out');
      await waitForSignedOut(tab, name);
      expect((await verify()).status).toBe(401);
      expect(problems).toEqual([]);
    },
  );

  test.each([
    ['Town', 'Signed in as Ada <b>L</b> (ada) at Town.', () => tokens.town, () => town, /^$/],
    ['Town hall', 'Signed in as Ada L (ada) at Town hall.', () => tokens.hall, () => hall, /^, on \d+ \w+ \d{4} at /],
  ] as const)(
    '%s: its token appears in no log, store, Redis key, address or referrer',
    async (name, sentence, word, of, expiry) => {
      await using watched = await opened();
      const { tab, seen, problems } = watched;
      await signInAt(tab, name);
      await expectSignedIn(tab, sentence);
      expect(await upload(tab)).toBe('ada');
      await tab.getByRole('link', { name: 'My uploads' }).click();
      await tab.getByRole('list', { name: 'Uploads, newest first' }).getByRole('link').first().waitFor();
      await tab.getByRole('link', { name: 'Upload from other programs' }).click();
      await tab.getByRole('link', { name: /^Download .*\.sxcu$/ }).waitFor();
      expect(await tab.locator('#expiry').textContent()).toMatch(expiry);
      expect(problems).toEqual([]);

      const session = await tab.evaluate('JSON.stringify({ ...sessionStorage })');
      expect(session).toContain(word());
      expect(await tab.evaluate('JSON.stringify({ ...localStorage }) + document.cookie')).not.toContain(word());
      const written = new Map([
        ['addresses and referrers of the browser', seen.join('\n')],
        ['addresses and referrers at the provider', of().seen.join('\n')],
        ['Redis', await dumpRedis(stack.redis)],
        ...Object.entries(stack.services).map(([service, { output }]) => [service, output] as const),
      ]);
      for await (const entry of glob('**', { cwd: stack.folder, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        if (entry.isFile()) written.set(file, file + (await readFile(file, 'latin1')));
      }
      const found = [...written].filter(([, text]) => text.includes(word())).map(([where]) => where);
      expect(found).toEqual([]);
      // The search covers logs, Redis and the store.
      expect(written.get('site')).toContain('/sign-in');
      expect(written.get('Redis')).toContain(':rendition-pictures:');
      expect([...written.keys()].filter((path) => path.includes('/records/'))).not.toEqual([]);
      // The code appears only in the request that delivers it.
      const codes = [...seen.join('\n').matchAll(/[?&]code=([\w-]+)/g)].map(([, code]) => code ?? '');
      expect(new Set(codes).size).toBe(1);
      expect(
        [...written].filter(([where, text]) => !where.startsWith('addr') && text.includes(codes[0] ?? '')),
      ).toEqual([]);
      expect(seen.filter((each) => /\?code=/.test(each.split(' ')[1] ?? ''))).toEqual([]);

      await press(tab, 'Sign out');
      await waitForSignedOut(tab, name);
      expect(of().revoked).toContain(word());
      expect(await tab.evaluate('sessionStorage.length')).toBe(0);
    },
  );

  test('no other tab or window, even one opened by a signed-in tab, is signed in; the tab stays signed in', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await signInAtTown(tab);
    const [popup] = await Promise.all([tab.waitForEvent('popup'), tab.evaluate("void window.open('/upload')")]);
    const other = await tab.context().newPage();
    await other.goto(`${stack.site}/upload`);
    for (const each of [popup, other]) {
      await waitForSignedOut(each, 'Town');
      expect(await each.evaluate('sessionStorage.length')).toBe(0);
    }
    await tab.reload();
    await expectSignedIn(tab, 'Signed in as Ada <b>L</b> (ada) at Town.');
  });

  test('signing out is confirmed once, and says if the token stays valid', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await signInAtTown(tab);
    await tab.route('**/oauth/revoke', (route) => route.fulfill({ status: 503 }));
    await press(tab, 'Sign out');
    const confirmation = tab
      .getByRole('status')
      .filter({ hasText: 'Signed out. The provider did not revoke the token' });
    await confirmation.waitFor();
    expect(await axeViolations(tab)).toEqual([]);
    await tab.reload();
    await waitForSignedOut(tab, 'Town');
    expect(await confirmation.count()).toBe(0);
  });

  test('a user who denies access gets a message and a link back to the upload page', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await signInAt(tab, 'Sandbox');
    await press(tab, 'Deny');
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toBe('You did not allow access at Sandbox. You are not signed in.');
    expect(tab.url()).toBe(stack.site + redirectPathOf('Sandbox'));
    expect(await axeViolations(tab)).toEqual([]);
    await tab.getByRole('link', { name: 'Back' }).click();
    await tab.waitForURL(`${stack.site}/upload`);
  });

  test('an unsolicited response does not sign the user in', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await tab.goto(`${stack.site}${redirectPathOf('Sandbox')}?code=of-someone-else&state=made-up`);
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toBe('No sign-in is in progress in this tab.');

    await tab.goto(`${stack.site}/upload`);
    await signInAt(tab, 'Sandbox');
    await tab.getByRole('button', { name: 'Allow' }).waitFor();
    await tab.goto(`${stack.site}${redirectPathOf('Sandbox')}?code=of-someone-else&state=made-up`);
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toBe('This response belongs to another sign-in, so it was ignored.');
    expect(await tab.evaluate('sessionStorage.length')).toBe(0);
  });

  test('a provider that redirects the user to another provider does not get its code (mix-up attack)', async () => {
    await using watched = await opened();
    const { tab } = watched;
    hall.flaw = 'no-issuer';
    const { issuer } = hall.signIn as { issuer: string };
    await tab.route('**/oauth/authorize?*', (route) => {
      const mixedUp = new URL(`${issuer}/auth`);
      mixedUp.search = new URL(route.request().url()).search;
      mixedUp.searchParams.set('client_id', 'echodrop');
      mixedUp.searchParams.set('redirect_uri', stack.site + redirectPathOf('Town hall'));
      return route.fulfill({ status: 302, headers: { location: mixedUp.href } });
    });
    const before = town.seen.length;
    await signInAt(tab, 'Town');
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toBe('This response is from another provider, so it was ignored.');
    expect(town.seen.slice(before).filter((each) => each.includes('/oauth/token'))).toEqual([]);
    expect(await tab.evaluate('sessionStorage.length')).toBe(0);
  });

  test.each([
    ['Town', 'expired', 'This sign-in has expired or was used already. Sign in again.'],
    ['Town', 'no-account', `Town sent an account without a user name. ${advice}`],
    ['Town', 'no-registration', `Town did not register this site as an application. ${advice}`],
    ['Town hall', 'expired', 'This sign-in has expired or was used already. Sign in again.'],
    ['Town hall', 'other-nonce', /^Town hall sent an invalid response: .*nonce/],
    ['Town hall', 'other-issuer', /^Town hall sent an invalid response: .*iss/],
    ['Town hall', 'other-subject', /^Town hall sent an invalid response: .*sub/],
    ['Town hall', 'login-required', 'Town hall refused the sign-in: Not <b>signed</b> in'],
    ['Town hall', 'no-cors', /^Town hall cannot be reached from this page/],
  ] as const)('%s: shows a message for %s', async (name, flaw, message) => {
    const tab = await sharedTab();
    Object.assign(name === 'Town' ? town : hall, { flaw });
    if (flaw === 'no-registration') town.forgetApplications();
    await signInAt(tab, name);
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
    expect(await tab.evaluate("sessionStorage.getItem('echodrop.session')")).toBeNull();
  });

  const noRegistration = `Town sent an invalid response to the registration of this site. ${advice}`;
  test.each([
    ['/api/v1/apps', 200, '<html>', noRegistration],
    ['/api/v1/apps', 200, 'null', noRegistration],
    ['/api/v1/apps', 200, '{"client_id":{},"client_secret":"s"}', noRegistration],
    ['/api/v1/apps', 503, '', `Town did not register this site as an application (status 503). ${advice}`],
    ['/oauth/token', 200, '{"access_token":"a\\nb","token_type":"Bearer"}', `Town sent an invalid token. ${advice}`],
    ['/oauth/token', 400, '{"error":"no","error_description":{}}', 'Town refused the sign-in: no'],
    ['/accounts/verify_credentials', 200, '{"username":{}}', `Town sent an account without a user name. ${advice}`],
  ])('an invalid response of an instance to %s gets a message: %i %s', async (path, status, body, message) => {
    const tab = await sharedTab();
    const headers = { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'application/json' };
    await tab.route(`**${path}`, (route) => route.fulfill({ status, headers, body }));
    await signInAt(tab, 'Town');
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toBe(message);
    expect(await tab.evaluate("sessionStorage.getItem('echodrop.session')")).toBeNull();
  });

  test.each(['javascript:alert(1)', 'not an address', 7])(
    'a provider whose address for signing in is %s gets no visitor',
    async (endpoint) => {
      const tab = await sharedTab();
      const before = shared?.problems.length;
      await tab.route('**/openid-configuration', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), authorization_endpoint: endpoint } });
      });
      await signInAt(tab, 'Town hall');
      await alert(tab).waitFor();
      expect(await alert(tab).textContent()).toBe(`Town hall has no valid address for signing in. ${advice}`);
      expect(shared?.problems.slice(before)).toEqual([]);
    },
  );

  test('the way to a slow provider has one time limit; the page says whom it contacts, and keeps the focus', async () => {
    await using watched = await openTab(browser());
    const { tab } = watched;
    await tab.goto(`${stack.site}/upload`);
    await tab.evaluate(`{
      globalThis.limits = [];
      AbortSignal.timeout = (ms) => {
        const limit = new AbortController();
        limits.push({ ms, end: () => limit.abort(new DOMException('', 'TimeoutError')) });
        return limit.signal;
      };
    }`);
    const asked: string[] = [];
    const discovery = Promise.withResolvers<void>();
    await tab.route('**/.well-known/oauth-authorization-server', () => discovery.resolve());
    await tab.route('**/api/v1/apps', (route) => {
      asked.push(route.request().url());
    });
    const button = tab.getByRole('button', { name: 'Sign in with Town', exact: true });
    await button.press('Enter');
    await tab.getByRole('status').filter({ hasText: 'Contacting Town.' }).waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await axeViolations(tab)).toEqual([]);
    await discovery.promise;
    expect(await tab.evaluate('limits.map(({ ms }) => ms)')).toEqual([20_000]);
    await tab.evaluate('limits[0].end()');
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toBe('Town did not respond in time. Try again later.');
    expect(asked).toEqual([]);
    expect(await tab.evaluate('document.activeElement.textContent')).toBe('Sign in with Town');
    expect(await button.getAttribute('aria-disabled')).toBe('false');
  });

  test('a user who stays on the page can sign in again after five seconds', async () => {
    await using watched = await openTab(browser());
    const { tab } = watched;
    await tab.goto(`${stack.site}/upload`);
    await stopClock(tab);
    // The browser stays on the page, as if the user had chosen so.
    await tab.route('**/oauth/authorize?*', (route) => route.fulfill({ status: 204 }), { times: 1 });
    const [left] = await Promise.all([tab.waitForEvent('requestfailed'), signInAt(tab, 'Town')]);
    expect(left.url()).toContain('/oauth/authorize?');
    const button = tab.getByRole('button', { name: 'Sign in with Town', exact: true });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await tab.clock.runFor(5000);
    await tab.getByRole('status').filter({ hasText: 'If Town does not appear, try again.' }).waitFor();
    await signInAtTown(tab);
  });

  test('shows a message if the connection is lost before the sign-in begins', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await tab.context().setOffline(true);
    await press(tab, 'Sign in with Town');
    await missing(tab).waitFor();
    expect(await missing(tab).textContent()).toBe('This page could not load its scripts. Reload it.');
  });

  test.each([
    ['/upload', '/upload/caption.js'],
    ['/upload', '/sign-in/buttons.js'],
    ['/mine', '/scripts/client.js'],
    ['/mine/apps', '/mine/app-files.js'],
  ])('%s says so if %s does not load', async (path, script) => {
    await using watched = await openTab(browser());
    const { tab } = watched;
    await tab.route(`**${script}`, (route) => route.fulfill({ status: 404 }));
    await tab.goto(stack.site + path);
    await missing(tab).waitFor();
    expect(await missing(tab).textContent()).toBe('This page could not load its scripts. Reload it.');
    expect(await tab.locator('summary:visible').count()).toBe(0);
    await tab.unroute(`**${script}`);
    await missing(tab).getByRole('link', { name: 'Reload it' }).click();
    await waitForSignedOut(tab, 'Town');
    await expect.poll(() => tab.locator('#scripts-missing').count()).toBe(0);
  });

  test('a page says after a delay that no script of it loads, also the callback page', async () => {
    await using watched = await openTab(browser());
    const { tab } = watched;
    await tab.route('**/*.js', (route) => route.abort());
    // The delay is an animation.
    const session = await tab.context().newCDPSession(tab);
    await session.send('Animation.enable');
    await session.send('Animation.setPlaybackRate', { playbackRate: 0 });
    for (const path of ['/upload', redirectPathOf('Town')]) {
      await tab.goto(stack.site + path);
      expect(await missing(tab).count()).toBe(0);
      await tab.evaluate('for (const delay of document.getAnimations()) delay.finish()');
      await missing(tab).waitFor();
    }
  });

  test('the code leaves the address even if the scripts that use it do not load', async () => {
    await using watched = await openTab(browser());
    const { tab } = watched;
    await tab.route('**/sign-in/session*.js', (route) => route.abort());
    await tab.goto(`${stack.site}${redirectPathOf('Town')}?code=a&state=b`);
    await missing(tab).waitFor();
    expect(await missing(tab).textContent()).toBe('This page could not load its scripts. Go back and sign in again.');
    expect(tab.url()).toBe(stack.site + redirectPathOf('Town'));
  });

  test('the site registers under its name once per instance, and again if the instance removed it or its scope was wider', async () => {
    await using watched = await opened();
    const { tab } = watched;
    const before = town.registered.length;
    const registered = () => town.registered.slice(before);
    const signInAndOut = async () => {
      await signInAtTown(tab);
      await signOutOfTown(tab);
    };
    await signInAndOut();
    const first = 'Bild & Ton profile';
    expect(registered()).toEqual([first]);
    town.flaw = 'overloaded';
    await signInAt(tab, 'Town');
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toBe(`Town cannot sign you in now (status 429). ${advice}`);
    town.flaw = undefined;
    await tab.goto(`${stack.site}/upload`);
    await signInAndOut();
    expect(registered()).toEqual([first]);
    // As an earlier setting registered it.
    await tab.evaluate(`for (const [key, kept] of Object.entries(localStorage)) {
      localStorage.setItem(key, JSON.stringify({ ...JSON.parse(kept), scope: 'read' }));
    }`);
    await signInAndOut();
    expect(registered()).toEqual([first, first]);
    town.forgetApplications();
    town.flaw = 'old-release';
    await signInAndOut();
    expect(registered()).toEqual([first, first, 'Bild & Ton read:accounts']);
  });

  test('signing out revokes the token as the application that obtained it, even if another tab registered again', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await signInAtTown(tab);
    await tab.evaluate(`for (const key of Object.keys(localStorage)) {
      localStorage.setItem(key, JSON.stringify({ clientId: 'newer', clientSecret: 'newer', scope: 'profile' }));
    }`);
    const revoked = town.revoked.length;
    await signOutOfTown(tab);
    expect(town.revoked.length).toBe(revoked + 1);
  });

  test('without a secure context, sign-in requires https', async () => {
    await using watched = await openTab(browser());
    const { tab } = watched;
    await tab.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })');
    await tab.goto(`${stack.site}/upload`);
    await signInAt(tab, 'Town');
    await alert(tab).waitFor();
    expect(await alert(tab).textContent()).toBe('Signing in needs an encrypted connection: open this site with https.');
  });
});
