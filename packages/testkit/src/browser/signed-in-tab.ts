import type { Browser, BrowserContextOptions } from 'playwright-core';
import { type Stack, sandbox } from '../start-stack.ts';
import { openTab, type WatchedTab } from './watched-tab.ts';

/** The settings for uploads in a browser with sign-in at the sandbox provider. */
export function signInSettings({ provider }: Pick<Stack, 'provider'>): Record<string, string> {
  const address = `${new URL(provider).origin}/api/v1/accounts/verify_credentials`;
  return {
    WEB_UPLOAD: '1',
    WEB_UPLOAD_API_KEY: sandbox.apiKey,
    WEB_SIGN_IN: JSON.stringify([{ name: 'Sandbox', profile: 'mastodon', provider: address }]),
  };
}

interface SignedInOptions {
  readonly path: string;
  /** The gateway has no session of this browser: its token has expired. */
  readonly isExpired?: boolean;
  readonly options?: BrowserContextOptions;
}

/** Opens a page of the site in a browser that is signed in at the sandbox provider. */
export async function openSignedIn(
  browser: Browser,
  { site, gateway, bearerProvider }: Pick<Stack, 'site' | 'gateway' | 'bearerProvider'>,
  { path, isExpired = false, options }: SignedInOptions,
): Promise<WatchedTab> {
  const watched = await openTab(browser, options);
  const context = watched.tab.context();
  const response = await fetch(`${gateway}/2/session`, {
    method: 'POST',
    headers: {
      Origin: site,
      'X-Auth-Service-Provider': bearerProvider,
      'X-Verify-Credentials-Authorization': 'Bearer sandbox-bearer',
    },
  });
  const { name: publicName } = (await response.json()) as { name: string };
  for (const [name = '', value = ''] of response.headers.getSetCookie().map((each) => each.split(/[=;]/)))
    if (!isExpired && value !== '')
      await context.addCookies([{ name, value, url: gateway, httpOnly: true, sameSite: 'Strict' }]);
  const session = {
    id: 'of-this-test',
    provider: bearerProvider,
    providerName: 'Sandbox',
    name: 'Sandbox User',
    publicName,
    subject: '0',
  };
  const content = `localStorage.setItem('echodrop.session', ${JSON.stringify(JSON.stringify(session))})`;
  const signIn = await watched.tab.addInitScript({ content });
  await watched.tab.goto(`${site}${path}`);
  await signIn.dispose();
  return watched;
}
