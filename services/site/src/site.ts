import type { ViewSources } from './find/find-view.ts';
import type { SignInProvider } from './sign-in/sign-in-providers.ts';

/** What pages and routes depend on. */
export interface Site extends Omit<ViewSources, 'signal' | 'onWait'> {
  /** The public origin, without a trailing slash. */
  readonly publicSite: string;
  readonly name: string;
  /** The address of a link on every page. */
  readonly abuseContact?: string | undefined;
  /** Address for reports of vulnerabilities. */
  readonly securityContact?: string | undefined;
  readonly robots: 'index' | 'noindex';
  /** Addresses and networks whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  readonly hasOembedDiscovery: boolean;
  /** Undefined without an upload page. */
  readonly upload?: WebUpload | undefined;
}

/** What one request uses of the site. */
export type RequestSources = Site & ViewSources;

export interface WebUpload {
  /** The gateway as browsers reach it: with its base path, without a trailing slash. */
  readonly address: string;
  /** The gateway's limit for a file. */
  readonly maxBytes: number;
  /** The API key that pages use. Public. */
  readonly apiKey: string | undefined;
  readonly signIn: readonly SignInProvider[];
}

/** Whether people can sign in, which the pages of own uploads require. */
export function canSignIn(upload: WebUpload | undefined): upload is WebUpload {
  return upload !== undefined && upload.signIn.length > 0;
}
