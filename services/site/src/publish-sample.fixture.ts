import { publishSample as publish } from '@echodrop/archive/publish-sample.fixture';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StoredRecord } from '@echodrop/record';

/** For tests: publishes `bytes` as an upload does, and gives their id; `record` says what is not as usual. */
export async function publishSample(
  store: ObjectStore,
  bytes: Buffer,
  record: Partial<StoredRecord> = {},
): Promise<string> {
  return (await publish(store, record, bytes)).id;
}
