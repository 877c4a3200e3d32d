import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type Figure, type Figures, medianOf } from './figures.ts';
import { agedSuffix, goalOf, verdictOf } from './goals.ts';
import { rendered, sizeNames } from './media.ts';
import { plotOf } from './plot.ts';
import { medianText, spreadText } from './report.ts';

const docs = join(import.meta.dirname, '../../../docs/why');
/** The figures of one scenario. */
const generated = /(<!-- bench (\S+): begin -->\n).*?(<!-- bench \2: end -->)/gs;

const peers = ['naive', 'pass-through'];
const bySize = [
  'CPU of the upload path',
  'CPU of naive',
  'upload path / naive',
  'gateway / naive',
  'pass-through / gateway',
  'aged gateway / young',
];

/** Replaces the tables of the scenarios that ran in performance.md, and with the uploads' their plot. */
export async function writeDocs(figures: Figures): Promise<void> {
  const page = join(docs, 'performance.md');
  const text = await readFile(page, 'utf8');
  const changed = text.replace(generated, (block: string, begin: string, scenario: string, end: string) => {
    const measured = figures.all.filter((figure) => figure.scenario === scenario);
    return measured.length > 0 ? `${begin}${tablesOf(figures, measured)}\n${end}` : block;
  });
  await writeFile(page, changed);
  if (figures.find('CPU of naive', 'naive', sizeNames[0]))
    await writeFile(join(docs, 'performance.svg'), plotOf(figures));
}

function tablesOf(figures: Figures, measured: readonly Figure[]): string {
  const own = measured.filter(({ system }) => system === 'echodrop' || peers.includes(system));
  const sized = bySize.flatMap((name) => sizeRow(name, own));
  // The bench prints all figures; pages have those with a goal.
  const others = measured.filter((figure) => !bySize.includes(figure.name) && goalOf(figure));
  const tables = [
    [
      `Node ${process.versions.node} on ${cpus().length} cores of ${cpus()[0]?.model.trim()}, ${new Date().toISOString().slice(0, 10)}:`,
    ],
    sized.length > 0
      ? [`| | ${sizeNames.join(' | ')} |`, `|---|${sizeNames.map(() => '---:|').join('')}`, ...sized]
      : [],
    others.map(otherLine),
    capacityOf(figures, measured),
  ];
  return tables
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function sizeRow(name: string, figures: readonly Figure[]): string[] {
  const cells = sizeNames.map((size) =>
    figures.find((figure) => figure.name === name && figure.variant.replace(agedSuffix, '') === size),
  );
  const unit = cells.find(Boolean)?.unit;
  return cells.some(Boolean) ? [`| ${name}${unit ? ` (${unit})` : ''} | ${cells.map(sizeCell).join(' | ')} |`] : [];
}

function sizeCell(figure: Figure | undefined): string {
  if (!figure) return '';
  return `${medianText(figure)}${spread(figure)}${missedText(figure)}`;
}

function otherLine(figure: Figure): string {
  const { name, variant, unit } = figure;
  const value = `${medianText(figure)}${unit ? ` ${unit}` : ''}${spread(figure)}${missedText(figure)}`;
  return `- ${[name, variant].filter(Boolean).join(', ')}: ${value}`;
}

function missedText(figure: Figure): string {
  return verdictOf(figure) === 'missed' ? `; missed: ${goalOf(figure)?.minimum}` : '';
}

function spread(figure: Figure): string {
  const text = spreadText(figure);
  return text && ` (${text})`;
}

/** The capacity of one core. */
function capacityOf(figures: Figures, measured: readonly Figure[]): string[] {
  const perSecond = (name: string, variant: string) => {
    const figure = figures.find(name, 'echodrop', variant);
    return figure && measured.includes(figure)
      ? [`${variant}: ${Number((1000 / medianOf(figure.values)).toPrecision(2))}`]
      : [];
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
