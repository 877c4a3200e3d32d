import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type Figure, type Figures, medianOf } from './figures.ts';
import { goalOf, verdictOf } from './goals.ts';
import { rendered, sizeNames } from './media.ts';
import { plotOf } from './plot.ts';
import { medianText, spreadText } from './report.ts';

const docs = join(import.meta.dirname, '../../../docs/why');
const generated = /(<!-- bench: begin -->\n).*(<!-- bench: end -->)/s;

const peers = ['naive', 'pass-through'];
const bySize = [
  'CPU of gateway',
  'CPU of auth-verifier',
  'CPU of probe-worker',
  'CPU of the upload path',
  'CPU of naive',
  'CPU of pass-through',
  'upload path / naive',
  'gateway / naive',
  'pass-through / gateway',
  'S3 calls per upload',
  'List calls per upload',
  'BullMQ scripts per upload',
  'Redis commands outside scripts per upload',
];

/** Replaces the tables and the plot of docs/why/performance.md. @throws Error if the page has no place for them */
export async function writeDocs(figures: Figures): Promise<void> {
  const path = join(docs, 'performance.md');
  const page = await readFile(path, 'utf8');
  if (!generated.test(page)) throw new Error(`${path} has no marks for the tables of the bench`);
  await writeFile(
    path,
    page.replace(generated, (_, begin, end) => `${begin}${tablesOf(figures)}\n${end}`),
  );
  await writeFile(join(docs, 'performance.svg'), plotOf(figures));
}

function tablesOf(figures: Figures): string {
  const own = figures.all.filter(({ system }) => system === 'echodrop' || peers.includes(system));
  const others = figures.all.filter(
    ({ name, system }) => !bySize.includes(name) && !name.includes(': ') && system !== 'echodrop-2',
  );
  return [
    `Node ${process.versions.node} on ${cpus().length} cores of ${cpus()[0]?.model.trim()}. Medians; in brackets the smallest and the largest round.`,
    '',
    `| | ${sizeNames.join(' | ')} |`,
    `|---|${sizeNames.map(() => '---:|').join('')}`,
    ...bySize.flatMap((name) => sizeRow(name, own)),
    '',
    ...capacityOf(figures),
    '',
    '| | of | Echodrop or peer | median | minimum, aim | |',
    '|---|---|---|---:|---|---|',
    ...others.map(otherRow),
  ].join('\n');
}

function sizeRow(name: string, figures: readonly Figure[]): string[] {
  const cells = sizeNames.map((size) => figures.find((figure) => figure.name === name && figure.variant === size));
  const unit = cells.find(Boolean)?.unit;
  return cells.some(Boolean) ? [`| ${name}${unit ? ` (${unit})` : ''} | ${cells.map(sizeCell).join(' | ')} |`] : [];
}

function sizeCell(figure: Figure | undefined): string {
  if (!figure) return '';
  const goal = goalOf(figure);
  const verdict = goal ? `; ${verdictOf(figure)}: ${goal.minimum}, ${goal.aim}` : '';
  return `${medianText(figure)}${spread(figure)}${verdict}`;
}

function otherRow(figure: Figure): string {
  const { name, variant, system, unit } = figure;
  const goal = goalOf(figure);
  const value = `${medianText(figure)}${unit ? ` ${unit}` : ''}${spread(figure)}`;
  return `| ${name} | ${variant} | ${system} | ${value} | ${goal ? `${goal.minimum}, ${goal.aim}` : ''} | ${verdictOf(figure) ?? ''} |`;
}

function spread(figure: Figure): string {
  const text = spreadText(figure);
  return text && ` (${text})`;
}

/** The capacity of one core. */
function capacityOf(figures: Figures): string[] {
  const perSecond = (name: string, variant: string) => {
    const figure = figures.find(name, 'echodrop', variant);
    return figure ? [`${variant}: ${Number((1000 / medianOf(figure.values)).toPrecision(2))}`] : [];
  };
  const uploads = sizeNames.flatMap((size) => perSecond('CPU of the upload path', size));
  const photos = rendered.flatMap((name) => perSecond('CPU of all renditions of one upload', name));
  return [
    ...(uploads.length > 0 ? [`One core takes this many uploads a second: ${uploads.join('; ')}.`] : []),
    ...(photos.length > 0
      ? [`One core makes all renditions of this many uploads a second: ${photos.join('; ')}.`]
      : []),
  ];
}
