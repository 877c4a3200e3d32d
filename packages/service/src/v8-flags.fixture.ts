/** Lets V8 work, as a service does if its argument is `service`, and prints what it did. Run with `--allow-natives-syntax --trace-gc-nvp`. */
import { setImmediate as turn } from 'node:timers/promises';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';

if (process.argv[2] === 'service') await import('./run-service.ts');

const isCompiled = new Function(`
  const once = () => 1;
  once();
  return %ActiveTierIsSparkplug(once);
`);

/** Allocates a million objects. Up to 100,000 survive a minor collection. */
function fillHeap(): void {
  let survivors: object[] = [];
  for (let n = 0; n < 1_000_000; n += 1) {
    survivors.push({ n, more: [n] });
    if (survivors.length > 100_000) survivors = [];
  }
}

/** A gibibyte of body chunks. */
async function receiveChunks(): Promise<void> {
  for (let n = 0; n < 16_384; n += 1) {
    Buffer.allocUnsafeSlow(65_536);
    if (n % 16 === 0) await turn();
  }
}

/** Whether V8 already has this flag: the tag is derived from all flags. */
function hasFlag(flag: string): boolean {
  const before = cachedDataVersionTag();
  setFlagsFromString(flag);
  return cachedDataVersionTag() === before;
}

await receiveChunks();
fillHeap();
process.stdout.write(`isCompiled=${isCompiled()}\nkeepsCode=${hasFlag('--no-memory-reducer-favors-memory')}\n`);
