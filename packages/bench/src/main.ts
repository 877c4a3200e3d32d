/** Measures what Echodrop costs, beside its peers and in one run: `npm run bench -- --help`. */
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildServices } from '@echodrop/build/build';
import { Figures } from './figures.ts';
import { missedOf } from './goals.ts';
import { makeSamples } from './media.ts';
import { type Options, readOptions, usageOf } from './options.ts';
import { reportOf } from './report.ts';
import type { Bench } from './scenario.ts';
import { measureAged } from './scenarios/aged.ts';
import { measureCalls } from './scenarios/calls.ts';
import { measureCrowds } from './scenarios/crowds.ts';
import { measureFirstView } from './scenarios/first-view.ts';
import { measureGrowth } from './scenarios/growth.ts';
import { measureIdle } from './scenarios/idle.ts';
import { measureLatency } from './scenarios/latency.ts';
import { measureMemory } from './scenarios/memory.ts';
import { measureReading } from './scenarios/reading.ts';
import { measureRenditions } from './scenarios/renditions.ts';
import { measureResumable } from './scenarios/resumable.ts';
import { measureConnections, measureGateways } from './scenarios/scaling.ts';
import { measureUploads } from './scenarios/upload.ts';
import { startSharedServers } from './shared-servers.ts';
import { measuredServices } from './systems.ts';
import { writeDocs } from './write-docs.ts';

const scenarios: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  upload: measureUploads,
  calls: measureCalls,
  latency: measureLatency,
  connections: measureConnections,
  gateways: measureGateways,
  resumable: measureResumable,
  memory: measureMemory,
  idle: measureIdle,
  reading: measureReading,
  renditions: measureRenditions,
  'first-view': measureFirstView,
  aged: measureAged,
  growth: measureGrowth,
  crowds: measureCrowds,
};

const names = Object.keys(scenarios);
if (process.argv.includes('--help')) process.stdout.write(`${usageOf(names)}\n`);
else {
  const options = readOptionsOrExplain();
  if (options) await run(options);
}

function readOptionsOrExplain(): Options | undefined {
  try {
    return readOptions(process.argv.slice(2), names);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\nSee npm run bench -- --help\n`);
    // A missed goal ends with 1.
    process.exitCode = 2;
    return undefined;
  }
}

async function run(options: Options): Promise<void> {
  await buildServices(join(import.meta.dirname, '../../../built'), measuredServices);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-bench-'));
  await using shared = await startSharedServers(folder.path);
  const figures = new Figures();
  const bench = { options, shared, figures, samples: await makeSamples(folder.path) };
  for (const name of options.only) {
    process.stderr.write(`${name} ...\n`);
    figures.scenario = name;
    await scenarios[name]?.(bench);
  }
  process.stdout.write(reportOf(figures));
  if (options.json) await writeFile(options.json, JSON.stringify(figures, undefined, 2));
  if (options.shouldWriteDocs) await writeDocs(figures);
  if (figures.faults.length > 0 || missedOf(figures).length > 0) process.exitCode = 1;
}
