/** One result in a sentence. `wrong`: uploads will not work, or will not be safe. */
export interface Finding {
  readonly weight: 'ok' | 'note' | 'warn' | 'wrong';
  readonly sentence: string;
}

const finding =
  (weight: Finding['weight']) =>
  (sentence: string): Finding => ({ weight, sentence });

export const ok = finding('ok');
export const note = finding('note');
export const warn = finding('warn');
export const wrong = finding('wrong');

/** Spells milliseconds to the second: `1 hr, 2 min`. */
export function formatDuration(ms: number): string {
  const all = Math.round(ms / 1000);
  const hours = Math.floor(all / 3600);
  const minutes = Math.floor((all % 3600) / 60);
  const seconds = all % 60;
  const units = hours > 0 ? { hours, minutes } : { minutes, seconds };
  return new Intl.DurationFormat('en', { style: 'short' }).format(units) || '0 sec';
}
