import type { Response } from 'express';
import { expect, test, vi } from 'vitest';
import { refreshPage } from './refresh-page.ts';

test.each([
  [0, '2'],
  [4, '2'],
  [40, '10'],
  [120, '30'],
  [86_400, '30'],
  // The gateway's clock may be ahead.
  [-86_400, '2'],
])('the page of an upload that was published %i s ago reloads after %s s', (age, pause) => {
  const set = vi.fn();
  refreshPage({ set } as unknown as Response, new Date(Date.now() - age * 1000));
  expect(set).toHaveBeenCalledExactlyOnceWith('Refresh', pause);
});
