import { expect, test, vi } from 'vitest';
import { withSandboxMode } from './media-sandbox.ts';

const noLandlock = 'sandbox: Landlock (Function not implemented)';

function environments(probing = {}, rendering = {}) {
  return new Map([
    ['gateway', {}],
    ['probe-worker', probing],
    ['rendition-worker', rendering],
  ] as const);
}

test('keeps the default if the sandbox works', async () => {
  expect(await withSandboxMode(environments(), async () => undefined)).toEqual(environments());
});

test('chooses limits-only for workers if the kernel lacks a feature', async () => {
  const limited = { MEDIA_SANDBOX: 'limits-only' };
  expect(await withSandboxMode(environments(), async () => noLandlock)).toEqual(environments(limited, limited));
});

test('keeps what the operator has set for a worker', async () => {
  const full = { MEDIA_SANDBOX: 'full' };
  const chosen = await withSandboxMode(environments({}, full), async () => noLandlock);
  expect(chosen).toEqual(environments({ MEDIA_SANDBOX: 'limits-only' }, full));
  const findFault = vi.fn(async () => noLandlock);
  expect(await withSandboxMode(environments(full, full), findFault)).toEqual(environments(full, full));
  expect(findFault).not.toHaveBeenCalled();
});

test('fails for any other fault', async () => {
  await expect(withSandboxMode(environments(), async () => 'ffmpeg: broken')).rejects.toThrow('ffmpeg: broken');
});
