import type { RenditionClient, RenditionQuestion } from '@echodrop/contracts/rendition';

/** The last step of an upload, for which nobody waits: a queue that is down costs a later viewer some seconds, and the upload nothing. */
export class RenditionWishes {
  readonly #renditions: Pick<RenditionClient, 'wish'>;
  readonly #failed: (mediaKey: string, error: unknown) => void;

  constructor(renditions: Pick<RenditionClient, 'wish'>, failed: (mediaKey: string, error: unknown) => void) {
    this.#renditions = renditions;
    this.#failed = failed;
  }

  /** Asks for all renditions of published media; never throws. */
  ask(media: Omit<RenditionQuestion, 'set'>): void {
    this.#renditions.wish(media).catch((error) => this.#failed(media.mediaKey, error));
  }
}
