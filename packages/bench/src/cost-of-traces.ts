/**
 * What traces cost: two systems side by side on this machine, one that exports traces and one that does not, which take uploads in turn. Reported is the
 * processor time of each service for an upload with its renditions and for its start, and the ratio of the two.
 *
 *     node packages/bench/src/cost-of-traces.ts
 */
import { readFile } from 'node:fs/promises';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { startCollector } from '@echodrop/testkit/servers/start-collector';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';

const rounds = 4;
const uploadsARound = 25;
const services = ['gateway', 'auth-verifier', 'probe-worker', 'rendition-worker'] as const;
type Costs = Record<ServiceName, number>;

await using collector = await startCollector();
await using off = await startStack();
await using on = await startStack({
  settings: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
});
const media = await samplePhoto('jpg', { width: 320, height: 240 });
printCost('processor milliseconds of a start', await costs(off), await costs(on), 1);

for (const stack of [off, on]) await uploadSome(stack);
const spent = { off: await costs(off), on: await costs(on) };
for (let round = 0; round < rounds; round++) {
  for (const stack of round % 2 === 0 ? [off, on] : [on, off]) await uploadSome(stack);
}
const [offAfter, onAfter] = [await costs(off), await costs(on)];
printCost(
  'processor milliseconds of an upload',
  less(offAfter, spent.off),
  less(onAfter, spent.on),
  rounds * uploadsARound,
);
print(`${(collector.spans.length / ((rounds + 1) * uploadsARound)).toFixed(0)} spans an upload`);

async function uploadSome(stack: Stack): Promise<void> {
  for (let n = 0; n < uploadsARound; n++) {
    const { status, text } = await upload(stack, { media });
    if (status !== 200) throw new Error(`${status} ${text}`);
  }
  const finals = (await stack.stored('records')).length;
  await waitUntil('the last renditions', 120_000, async () => (await stack.stored('renditions')).length >= finals);
}

/** Milliseconds of processor time that each service itself has spent since its start (proc(5): the fields after the program's name begin with the third). */
async function costs({ services: running }: Stack): Promise<Costs> {
  const each = services.map(async (service) => {
    const stat = await readFile(`/proc/${running[service].pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [service, (Number(fields[11]) + Number(fields[12])) * 10] as const;
  });
  return Object.fromEntries(await Promise.all(each)) as Costs;
}

function less(after: Costs, before: Costs): Costs {
  return Object.fromEntries(services.map((service) => [service, after[service] - before[service]])) as Costs;
}

function printCost(what: string, without: Costs, with_: Costs, times: number): void {
  print(`${what}: without traces, with them, ratio`);
  for (const service of services) {
    const [a, b] = [without[service] / times, with_[service] / times];
    print(
      `  ${service.padEnd(18)} ${a.toFixed(2).padStart(9)} ${b.toFixed(2).padStart(9)} ${(b / a).toFixed(2).padStart(6)}`,
    );
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
