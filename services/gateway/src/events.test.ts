import { refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { UnreadableRecord } from '@echodrop/record';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { expect, test, vi } from 'vitest';
import { createGatewayEvents } from './events.ts';
import { createOwnUploadEvents } from './own-uploads/own-upload-events.ts';
import { Refusal } from './response/refusal-error.ts';

const metrics = new Metrics('test');
const events = createGatewayEvents(createLog('gateway', 'silent'), metrics);
const published = { record: { id: 'Ab3dE6gH9j', mediaKey: 'key', size: 3 }, isRepeat: false };

async function seriesOf(name: string): Promise<Map<string, number>> {
  const lines = (await metrics.exposition()).text.matchAll(new RegExp(`^${name}\\{(.*)\\} (.*)$`, 'gm'));
  return new Map([...lines].map(([, labels = '', value]) => [labels.replace(/,?service="test",?/, ''), Number(value)]));
}

test('every outcome of an upload has a series from the start, so that the first failure is an increase', async () => {
  const series = await seriesOf('echodrop_uploads_total');
  expect(series.size).toBe((2 * 2 + 1) * (3 + Object.keys(refusals).length));
  expect(series.get('version="1",format="xml",outcome="unavailable"')).toBe(0);
  expect(series.get('version="2",format="json",outcome="published"')).toBe(0);
});

test('an unreadable record of a user is counted, and logged with its reason', async () => {
  const log = createLog('gateway', 'silent');
  const error = vi.spyOn(log, 'error');
  createOwnUploadEvents(log, metrics).recordUnreadable('r', 'Ab3dE6gH9j', new UnreadableRecord('invalid id'));
  expect(error).toHaveBeenCalledWith(expect.objectContaining({ reason: 'invalid id' }), 'Record unreadable');
  expect(await seriesOf('echodrop_gateway_records_unreadable_total')).toEqual(new Map([['', 1]]));
});

test('a piece of a resumable upload that the service fails counts as a failed upload', async () => {
  const before = (await seriesOf('echodrop_uploads_total')).get('version="tus",format="json",outcome="unavailable"');
  const context = {
    requestId: 'r',
    version: 'tus',
    format: 'json',
    startedAt: 0,
    receivedAt: undefined,
    log: {},
  } as const;
  for (const method of ['HEAD', 'PATCH'])
    for (const end of ['ok', 'client_gone', new Refusal('unavailable')] as const)
      events.uploadEnded(context, end, { method, hasEnded: false });
  const after = await seriesOf('echodrop_uploads_total');
  expect(after.get('version="tus",format="json",outcome="unavailable"')).toBe((before ?? 0) + 1);
});

test('waiting behind other probes of the same user is no slow response', async () => {
  vi.useFakeTimers({ toFake: ['performance'], now: 0 });
  const receivedAt = performance.now();
  vi.advanceTimersByTime(20_200);
  const upload = { requestId: 'r', version: 1, format: 'json', startedAt: receivedAt, receivedAt } as const;
  events.uploadStarted();
  events.uploadEnded({ ...upload, log: { ownWaitSeconds: 20 } }, published);
  expect((await seriesOf('echodrop_upload_response_seconds_sum')).get('version="1"')).toBeCloseTo(0.2);
});

test('only published uploads count for the duration of responses', async () => {
  vi.useFakeTimers({ toFake: ['performance'], now: 0 });
  const startedAt = performance.now();
  vi.advanceTimersByTime(59_800);
  const receivedAt = performance.now();
  vi.advanceTimersByTime(200);
  for (const end of [published, new Refusal('unavailable'), new Refusal('overloaded')]) {
    events.uploadStarted();
    events.uploadEnded({ requestId: 'r', version: 2, format: 'json', startedAt, receivedAt, log: {} }, end);
  }
  expect((await seriesOf('echodrop_upload_response_seconds_count')).get('version="2"')).toBe(1);
  expect((await seriesOf('echodrop_upload_response_seconds_sum')).get('version="2"')).toBe(0.2);
  expect((await seriesOf('echodrop_upload_seconds_sum')).get('version="2",outcome="published"')).toBe(60);
});
