import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import type { Progress } from '../platform/platform.ts';
import { visible } from '../visible-text.ts';
import type { CommandContext } from './command-context.ts';

const longestName = 20;
const barColumns = 16;

/** Progress bars, one for each file that is being sent. */
export interface Bars {
  add(name: string): { readonly onProgress?: Progress; done(): void };
  /** Clears the bars until `resume`, so that lines can be printed. */
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Bars on a terminal that can move its cursor, and none if output goes elsewhere. */
export function createBars({ stdout, stderr, env }: CommandContext): Bars {
  if (!stdout.isTTY || !stderr.isTTY || env['TERM'] === 'dumb')
    return { add: () => ({ done() {} }), pause() {}, resume() {}, stop() {} };
  const bars = new MultiBar(
    {
      format: '{name} {bar} {percentage}%  {sizes}',
      barsize: barColumns,
      // Without this option, a signal that ends the process would leave the terminal without line wrap.
      linewrap: true,
      clearOnComplete: true,
      stream: stderr as NodeJS.WriteStream,
    },
    Presets.shades_classic,
  );
  let isStopped = false;
  return {
    add(name) {
      let bar: SingleBar | undefined;
      return {
        onProgress(sent, total) {
          if (isStopped) return;
          bar ??= bars.create(1, 0, { name: shorten(visible(name)) });
          bar.setTotal(total ?? sent);
          bar.update(sent, { sizes: `${formatSize(sent)} of ${formatSize(total ?? sent)}` });
        },
        done() {
          // `remove` starts the timer again.
          if (bar && !isStopped) bars.remove(bar);
        },
      };
    },
    pause: () => bars.stop(),
    resume() {
      // Otherwise the next bar would start a second timer, which no `stop` ends: the process would not end.
      bars.isActive = true;
      bars.update();
    },
    stop() {
      isStopped = true;
      bars.stop();
    },
  };
}

function formatSize(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function shorten(name: string): string {
  return name.length > longestName ? `…${name.slice(1 - longestName)}` : name.padEnd(longestName);
}
