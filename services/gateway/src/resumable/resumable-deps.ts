import type { ApiKeys } from '../admit/api-keys.ts';
import type { OncePublisher } from '../idempotency/idempotency.ts';
import type { Publisher } from '../publish/publish.ts';
import type { FormSettings } from '../receive/receive-form.ts';
import type { StateDeps } from './upload-state.ts';

/** What requests for resumable uploads need of the gateway. */
export interface ResumableDeps extends StateDeps {
  readonly forms: FormSettings;
  readonly publisher: OncePublisher;
  readonly records: Pick<Publisher, 'find'>;
  readonly apiKeys: ApiKeys;
}
