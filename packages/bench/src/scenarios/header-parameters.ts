import { resolve } from 'node:path';
import type { Bench } from '../scenario.ts';

const MiB = 1024 * 1024;
const shapes = ['a', ';', ';a', ';a=', ';a="', ';a="\\', ';a=b', ';a = ', '; \t', '"', '\\"'];
const maxParsedBytes = 16 * 1024;

/** Measures the slowest of several hostile shapes: as one value, and as values of the maximum length that is parsed. */
export async function measureHeaderParameters({ figures, options }: Bench): Promise<void> {
  for (const [n, root] of options.roots.entries()) {
    const { parametersOf } = await import(resolve(root, 'services/gateway/src/receive/header-parameters.ts'));
    const system = n === 0 ? 'echodrop' : `echodrop-${n + 1}`;
    for (const [variant, bytes] of [
      ['one value', MiB],
      ['values of 16 KiB', maxParsedBytes],
    ] as const) {
      const times = shapes.map((shape) => {
        const value = `x${shape.repeat(bytes)}`.slice(0, bytes);
        const begin = performance.now();
        for (let parsed = 0; parsed < MiB; parsed += bytes) parametersOf(value);
        return performance.now() - begin;
      });
      figures.add('worst time for 1 MiB of header parameters', { system, variant, unit: 'ms' }, Math.max(...times));
    }
  }
}
