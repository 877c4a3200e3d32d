import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Figures } from './figures.ts';
import { makeSamples } from './media.ts';
import { residentMiB } from './process-usage.ts';
import { runBatch } from './scenario.ts';
import { startSharedServers } from './shared-servers.ts';
import { startEchodrop, type System } from './systems.ts';
const pause = Number(process.argv[2] ?? 150), rounds = Number(process.argv[3] ?? 5);
await using folder = await mkdtempDisposable(join(tmpdir(), 'x-rest-'));
await using shared = await startSharedServers(folder.path);
const figures = new Figures();
const samples = await makeSamples(folder.path);
const bench = { options: {} as never, shared, figures, samples };
const root = join(import.meta.dirname, '../../..');
await using stack = new AsyncDisposableStack();
async function inspect(pid: number) {
  process.kill(pid, 'SIGUSR1'); await sleep(1000);
  const [{ webSocketDebuggerUrl }] = (await (await fetch('http://127.0.0.1:9229/json')).json()) as never;
  const ws = new WebSocket(webSocketDebuggerUrl); await new Promise((r) => ws.addEventListener('open', r));
  let id = 0; const waiting = new Map<number, (v: any) => void>();
  ws.addEventListener('message', ({ data }) => { const m = JSON.parse(data as string); waiting.get(m.id)?.(m.result ?? m); });
  const evaluate = (expression: string) => new Promise<any>((r) => { waiting.set(++id, r); ws.send(JSON.stringify({ id, method: 'Runtime.evaluate', params: { expression, returnByValue: true } })); }).then((x) => x.result?.value);
  await evaluate(`globalThis.gcs = {}; new (process.getBuiltinModule('perf_hooks').PerformanceObserver)((l) => { for (const e of l.getEntries()) { const k = e.detail.kind + '/' + e.detail.flags; const g = gcs[k] ??= [0, 0]; g[0] += 1; g[1] += e.duration; } }).observe({ entryTypes: ['gc'] }); 0`);
  const take = () => evaluate(`(() => { const r = JSON.stringify(Object.fromEntries(Object.entries(gcs).map(([k, [n, ms]]) => [k, n + 'x' + ms.toFixed(0) + 'ms']))) + ' ' + process.getBuiltinModule('v8').getHeapSpaceStatistics().filter(s => /new_space|old_space|code_space/.test(s.space_name)).map(s => s.space_name + ' ' + (s.space_used_size/2**20).toFixed(1) + '/' + (s.space_size/2**20).toFixed(0)).join(' '); globalThis.gcs = {}; return r; })()`);
  await evaluate(`process.getBuiltinModule('inspector').close && setTimeout(() => {}, 0); 0`);
  return { take, evaluate };
}
const flags = (process.argv[4] ?? '').split(',').filter(Boolean);
void flags;
const rested = stack.use(await startEchodrop(shared, { root, name: 'rested' }));
const r = await inspect(rested.processes['gateway']![0]!);
await runBatch(bench, rested, samples['200 KB'], { uploads: 6000, connections: 8 });
console.log('rested, warm', await r.take());
await sleep(pause * 1000);
console.log('rested, after rest', await r.take());
// Frees the inspector's port.
await r.evaluate(`setTimeout(() => process.getBuiltinModule('inspector').close(), 100); 0`);
await sleep(500);
const young = stack.use(await startEchodrop(shared, { root, name: 'young' }));
const y = await inspect(young.processes['gateway']![0]!);
await runBatch(bench, young, samples['200 KB'], { uploads: 6000, connections: 8 });
console.log('young, warm', await y.take());
await y.evaluate(`setTimeout(() => process.getBuiltinModule('inspector').close(), 100); 0`);
await sleep(500);
const sum: Record<string, number> = {};
for (let n = 0; n < rounds; n++) {
  const all = [young, rested];
  for (const s of n % 2 ? all.toReversed() : all) {
    const b = await runBatch(bench, s, samples['200 KB'], { uploads: 2000, connections: 8 });
    sum[s.name] = (sum[s.name] ?? 0) + b.cpuMs['gateway']!;
    console.log(s.name, b.cpuMs['gateway']!.toFixed(2), `(${residentMiB(s.processes['gateway']![0]!).toFixed(0)} MiB)`);
  }
}
console.log('ratio', (sum['rested']! / sum['young']!).toFixed(3));
for (const [name, s] of [['rested', rested], ['young', young]] as const) { const i = await inspect2(s); console.log(name, i); }
async function inspect2(s: System) {
  const pid = s.processes['gateway']![0]!;
  process.kill(pid, 'SIGUSR1'); await sleep(1000);
  const [{ webSocketDebuggerUrl }] = (await (await fetch('http://127.0.0.1:9229/json')).json()) as never;
  const ws = new WebSocket(webSocketDebuggerUrl); await new Promise((r) => ws.addEventListener('open', r));
  const got = new Promise<any>((r) => ws.addEventListener('message', ({ data }) => r(JSON.parse(data as string).result)));
  ws.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { returnByValue: true, expression: `(() => { const r = JSON.stringify(Object.fromEntries(Object.entries(gcs).map(([k, [n, ms]]) => [k, n + 'x' + ms.toFixed(0) + 'ms']))) + ' ' + process.getBuiltinModule('v8').getHeapSpaceStatistics().filter(s => /new_space|old_space|code_space/.test(s.space_name)).map(s => s.space_name + ' ' + (s.space_used_size/2**20).toFixed(1) + '/' + (s.space_size/2**20).toFixed(0)).join(' '); setTimeout(() => process.getBuiltinModule('inspector').close(), 100); return r; })()` } }));
  const v = (await got).result?.value; await sleep(500); return v;
}
process.exit();
