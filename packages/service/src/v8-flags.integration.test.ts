import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';

/** What V8 does in a service, and in a process that sets no flags (docs/decisions/upload-cost.md). */
let traces: { readonly service: string; readonly plain: string };

beforeAll(async () => {
  const [service, plain] = await Promise.all(['service', 'plain'].map((kind) => traceOf(kind)));
  traces = { service: service ?? '', plain: plain ?? '' };
});

test('functions are compiled at their first call', () => {
  expect(traces.service).toContain('isCompiled=true');
  expect(traces.plain).toContain('isCompiled=false');
});

test('other threads do not collect the young generation', () => {
  const timesOf = (trace: string) =>
    [...trace.matchAll(/background\.scavenge\.parallel=([\d.]+)/g)].map(([, ms]) => Number(ms));
  // The first collections of a service happen before its flags are set.
  expect(timesOf(traces.service).at(-1)).toBe(0);
  expect(timesOf(traces.plain).some((ms) => ms > 0)).toBe(true);
});

// V8 collects an idle heap only after 100 s, so the bench `aged` shows the effect.
test('a quiet time does not cost the optimized code', () => {
  expect(traces.service).toContain('keepsCode=true');
  expect(traces.plain).toContain('keepsCode=false');
});

test('short-lived body chunks seldom start a major collection', async () => {
  // When other threads collect, the number depends on the load of the machine.
  const collections = async (kind: string) =>
    [...(await traceOf(kind, '--single-threaded-gc')).matchAll(/ gc=mc /g)].length;
  const [service = 0, plain = 0] = await Promise.all(['service', 'plain'].map(collections));
  expect(plain).toBeGreaterThan(5);
  expect(service).toBeLessThan(plain / 2);
});

async function traceOf(kind: string, ...more: string[]): Promise<string> {
  const flags = ['--allow-natives-syntax', '--trace-gc-nvp', ...more];
  const { stdout } = await execa(process.execPath, [...flags, join(import.meta.dirname, 'v8-flags.fixture.ts'), kind]);
  return stdout;
}
