/** What was found out, in one plain sentence. Something `wrong` means that uploads will not work, or not be safe. */
export interface Finding {
  readonly weight: 'ok' | 'note' | 'warn' | 'wrong';
  readonly sentence: string;
}

export function ok(sentence: string): Finding {
  return { weight: 'ok', sentence };
}

export function note(sentence: string): Finding {
  return { weight: 'note', sentence };
}

export function warn(sentence: string): Finding {
  return { weight: 'warn', sentence };
}

export function wrong(sentence: string): Finding {
  return { weight: 'wrong', sentence };
}

const longest = 100;

/** What a provider sent, as a terminal can show it: without control characters or their like, and cut where it is long. */
export function shown(text: string): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}...` : text;
  return JSON.stringify(cut.replace(/\p{C}/gu, '\u{fffd}'));
}

/** `ms` to the second, as a person says it: `1 hr, 2 min`. */
export function duration(ms: number): string {
  const all = Math.round(ms / 1000);
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor((all % 3600) / 60), all % 60];
  const parts = hours > 0 ? { hours, minutes } : { minutes, seconds };
  return new Intl.DurationFormat('en', { style: 'short' }).format(parts) || '0 sec';
}
