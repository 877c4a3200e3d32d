import { formatCount } from '/scripts/format.js';

const maxNamed = 3;

/** Why files were not accepted, for a screen reader: the first sentence for each of the first three, and how many more. */
export function listFaults(rows: readonly { file: File; fault: string }[]) {
  const refused = rows.filter(({ fault }) => fault !== '');
  const named = refused
    .slice(0, maxNamed)
    .map(({ file, fault }) => `${file.name}: ${/^.*?\.(?= |$)/.exec(fault)?.[0] ?? fault}`);
  const more = refused.length - named.length;
  if (more > 0) named.push(`And ${formatCount(more, 'more file')}.`);
  return named;
}
