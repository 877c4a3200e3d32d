import { mediaPrefix } from '../object-keys.ts';
import { StoreUnavailable } from '../object-store.ts';
import { ObjectLists } from './object-lists.ts';
import type { ProbeObjects } from './probe-objects.ts';
import { readObjectPage } from './response-xml.ts';
import { isForbidden, responseError } from './store-response.ts';

/** Whether an object that was just written is in a list; true without permission to list media, unless it is required. @throws StoreUnavailable */
export async function isListed(probe: ProbeObjects, key: string, isRequired: boolean): Promise<boolean> {
  const response = await probe.get('', { query: { 'list-type': '2', prefix: key, 'encoding-type': 'url' } });
  if (isForbidden(response) && !isRequired) return true;
  if (response.status !== 200) throw responseError(response.status, response.body);
  return readObjectPage(response.body).objects.some((object) => object.key === key);
}

/** Lists two objects as if a page had one: each page but the first begins at the token of the one before. @throws StoreUnavailable */
export async function probePages(probe: ProbeObjects): Promise<void> {
  const written = [await probe.put(), await probe.put()];
  const [first = ''] = written.map(({ key }) => key).sort();
  const lists = new ObjectLists(async (query) => {
    const { status, body } = await probe.get('', { query: { ...query, 'max-keys': '1', 'encoding-type': 'url' } });
    if (status !== 200) throw responseError(status, body);
    return body;
  });
  const found = await lists.list({ prefix: mediaPrefix, after: first.slice(0, -1), limit: 2 });
  if (found.length !== 2 || found[0]?.key !== first)
    throw new StoreUnavailable('object store does not send the next page of a list');
}
