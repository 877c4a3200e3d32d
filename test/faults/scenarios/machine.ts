import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { makeClock, missingForClocks } from '../clocks.ts';
import { onDispose } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';
import type { RunningService } from '../start-system.ts';

const hour = 3600;
const videos = { count: 2000, atOnce: 20 };
// The limit is below the number of open descriptors, because some of them get closed.
const fewerDescriptors = 5;
const deaths = { count: 3, everyMs: 4000 };

/** Faults of the machine, and media that kills workers. */
export const machineScenarios: readonly Scenario[] = [
  { ...descriptorsGone(['gateway'], 5), isShort: true },
  descriptorsGone(['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker'], 15),
  ...[hour, -hour].flatMap((seconds) => [gatewayClockOff(seconds), otherClocksOff(seconds)]),
  deadlyMedia('probe-worker', 'ffprobe'),
  deadlyMedia('rendition-worker', 'ffmpeg'),
  {
    name: `a backlog of ${videos.count} videos`,
    breaks: `SIGKILL of the rendition-worker, started again when ${videos.count} videos wait for it`,
    forSeconds: 40,
    begin: async ({ system, load, broke }) => {
      await system.servers['rendition-worker']?.kill();
      broke();
      let left = videos.count;
      const sending = Array.from({ length: videos.atOnce }, async () => {
        while (left-- > 0) await load.send({ kind: 'mp4', isKeyed: true });
      });
      await Promise.all(sending);
      await system.servers['rendition-worker']?.restart();
      return onDispose(() => {});
    },
  },
];

function descriptorsGone(names: readonly string[], forSeconds: number): Scenario {
  return {
    name: `no file descriptors for ${names.join(', ')}`,
    breaks: `${names.join(', ')} cannot open another file or connection (RLIMIT_NOFILE)`,
    forSeconds,
    begin: async ({ system, broke }) => {
      await using parts = new AsyncDisposableStack();
      for (const service of system.services.filter(({ name }) => names.includes(name))) {
        parts.use(await withoutDescriptors(service));
        broke();
      }
      return parts.move();
    },
  };
}

async function withoutDescriptors({ server: { pid } }: RunningService): Promise<AsyncDisposable> {
  const limit = async (...more: string[]) => (await execa('prlimit', ['--pid', `${pid}`, ...more])).stdout.trim();
  const usual = await limit('--nofile', '--output', 'SOFT', '--noheadings');
  const open = (await readdir(`/proc/${pid}/fd`)).length;
  await limit(`--nofile=${open - fewerDescriptors}:`);
  return onDispose(() => limit(`--nofile=${usual}:`));
}

function gatewayClockOff(seconds: number): Scenario {
  return {
    name: `a clock jumps ${jumpOf(seconds)}`,
    breaks: `the clock of an additional gateway jumps ${jumpOf(seconds)} while it accepts uploads`,
    forSeconds: 15,
    missing: missingForClocks,
    begin: async ({ system, broke }) => {
      await using parts = new AsyncDisposableStack();
      const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-clock-'))).path;
      const clock = await makeClock(folder);
      const joined = parts.use(await system.join('gateway', clock.settings));
      system.gateways.push(joined.gateway);
      parts.defer(() => {
        system.gateways.splice(system.gateways.indexOf(joined.gateway), 1);
      });
      parts.defer(async () => {
        const media = await samplePhoto('png', { width: 64, height: 48 });
        const isHealthy = async () =>
          (await upload({ ...system, ...joined }, { media, message: 'clock' })).status === 200;
        await waitUntil('an upload to the gateway with the corrected clock', isHealthy);
      });
      parts.use(await clock.jump(seconds));
      broke();
      return parts.move();
    },
  };
}

function otherClocksOff(seconds: number): Scenario {
  return {
    name: `the clocks of verifier, workers and site jump ${jumpOf(seconds)}`,
    breaks: `the clocks of auth-verifier, probe-worker, rendition-worker and site jump ${jumpOf(seconds)}`,
    forSeconds: 15,
    on: 'own clock',
    missing: missingForClocks,
    begin: async ({ system: { clock }, broke }) => {
      if (!clock) throw new Error('these services have no separate clock');
      broke();
      return clock.jump(seconds);
    },
  };
}

function jumpOf(seconds: number): string {
  return `an hour ${seconds < 0 ? 'back' : 'ahead'}`;
}

function deadlyMedia(worker: 'probe-worker' | 'rendition-worker', tool: 'ffprobe' | 'ffmpeg'): Scenario {
  return {
    name: `media that kills its ${worker}`,
    breaks: `an additional ${worker} that the first video kills, ${deaths.count} times`,
    forSeconds: 0,
    begin: async ({ system, load, broke }: GameDay) => {
      // Without the full sandbox, a tool can kill its worker.
      await using program = await hostileFfprobe('[ "$1" = -version ] && exit\nkill -9 $PPID\nexec sleep 600', tool);
      const settings = { PATH: program.path, MEDIA_SANDBOX: 'limits-only', CONCURRENCY: '1' };
      for (let death = 0; death < deaths.count; death += 1) {
        await using _doomed = await system.join(worker, settings);
        await Promise.all([1, 2, 3].map(() => load.send({ kind: 'mp4', isKeyed: true })));
        broke();
        await sleep(deaths.everyMs);
      }
      return onDispose(() => {});
    },
  };
}
