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

/** Opens a page of the site in a tab that is signed in at the sandbox provider. */
export async function openSignedIn(
  browser: Browser,
  { site, bearerProvider }: Pick<Stack, 'site' | 'bearerProvider'>,
  { path, token = 'sandbox-bearer', options }: { path: string; token?: string; options?: BrowserContextOptions },
): Promise<WatchedTab> {
  const watched = await openTab(browser, options);
  const session = {
    provider: bearerProvider,
    providerName: 'Sandbox',
    token,
    name: 'Sandbox User',
    subject: '0',
    tab: 'signed-in',
  };
  const text = JSON.stringify(JSON.stringify(session));
  const content = `window.name = 'signed-in'; sessionStorage.setItem('echodrop.session', ${text})`;
  const signIn = await watched.tab.addInitScript({ content });
  await watched.tab.goto(`${site}${path}`);
  await signIn.dispose();
  return watched;
}
