import type { RenditionSources } from './find/find-rendition.ts';
import type { WebUpload } from './upload-page/upload-page.ts';

/** What the site's pages and routes go by. */
export interface Site extends RenditionSources {
  /** Where people reach it, without a slash at its end. */
  readonly publicSite: string;
  readonly name: string;
  /** The address of a link on every page. */
  readonly abuseContact?: string | undefined;
  readonly robots: 'index' | 'noindex';
  readonly hasOembedDiscovery: boolean;
  /** What the upload page goes by; without it there is none. */
  readonly upload?: WebUpload | undefined;
}
