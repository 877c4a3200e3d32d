import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { expect, test } from 'vitest';
import { refusals } from './answer/refusals.ts';
import { GatewayEvents, type UploadEnd } from './events.ts';

const metrics = new Metrics('test');
const events = new GatewayEvents(createLog('gateway', 'silent'), metrics);

async function told(name: string): Promise<Map<string, number>> {
  const lines = (await metrics.exposition()).text.matchAll(new RegExp(`^${name}\\{(.*)\\} (.*)$`, 'gm'));
  return new Map([...lines].map(([, labels = '', value]) => [labels.replace(/,?service="test",?/, ''), Number(value)]));
}

test('every way in which an upload may end is told from the start, so that the first failure is an increase', async () => {
  const series = await told('echodrop_uploads_total');
  expect(series.size).toBe(2 * 2 * (3 + Object.keys(refusals).length));
  expect(series.get('version="1",format="xml",outcome="unavailable"')).toBe(0);
  expect(series.get('version="2",format="json",outcome="published"')).toBe(0);
});

test('what counts for the promise of quick answers is what was published', async () => {
  const end = { requestId: 'r', version: 2, format: 'json', seconds: 60, answerSeconds: 0.2 } as const;
  const ends: UploadEnd[] = [
    { ...end, outcome: 'published', bytes: 10 },
    { ...end, outcome: 'unavailable' },
    { ...end, outcome: 'media_unsupported' },
  ];
  for (const each of ends) {
    events.uploadBegan();
    events.uploadEnded(each);
  }
  expect([...(await told('echodrop_upload_answer_seconds_count'))]).toEqual([['version="2"', 1]]);
  expect([...(await told('echodrop_upload_answer_seconds_sum'))]).toEqual([['version="2"', 0.2]]);
  expect((await told('echodrop_upload_seconds_sum')).get('version="2",outcome="published"')).toBe(60);
});
