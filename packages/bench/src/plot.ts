import { type Figures, medianOf } from './figures.ts';
import { sizeNames } from './media.ts';
import { uploadServices } from './systems.ts';

interface Bar {
  readonly label: string;
  /** Milliseconds, by the class of its colour. */
  readonly pieces: readonly { readonly kind: string; readonly ms: number }[];
}

const width = 760;
const left = 200;
const right = 110;
const barHeight = 22;
const gap = 6;
const groupGap = 34;
const top = 84;

const valueWidth = 80;

const style = `
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .quiet { fill: #59636e; }
  .title { font-size: 17px; font-weight: 600; }
  .gateway { fill: #1f6feb; } .auth-verifier { fill: #8250df; } .probe-worker { fill: #bf3989; }
  .naive { fill: #9a6700; } .pass-through { fill: #59636e; }
  line { stroke: #59636e; stroke-dasharray: 3 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .quiet { fill: #b1bac4; } line { stroke: #b1bac4; }
    .gateway { fill: #58a6ff; } .auth-verifier { fill: #bc8cff; } .probe-worker { fill: #f778ba; }
    .naive { fill: #d29922; } .pass-through { fill: #8b949e; }
  }`;

/** What an upload costs, as bars: of each size those of Echodrop, the naive server and the pass-through, in units of the naive server. */
export function plotOf(figures: Figures): string {
  const groups = sizeNames.flatMap((size) => {
    const bars = barsOf(figures, size);
    return bars.length > 0 ? [{ size, bars }] : [];
  });
  const most = Math.max(1, ...groups.flatMap(({ bars }) => bars.map((bar) => msOf(bar) / naiveOf(bars))));
  const scale = (width - left - right) / most;
  let y = top;
  const drawn = groups.map(({ size, bars }) => {
    const heading = `<text x="0" y="${y + 16}" class="title">${size}</text>`;
    const rows = bars.map((bar, n) => drawBar(bar, y + n * (barHeight + gap), scale / naiveOf(bars), left + scale));
    y += bars.length * (barHeight + gap) + groupGap;
    return heading + rows.join('');
  });
  const at = left + scale;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" role="img" aria-labelledby="title">
<title id="title">Processor time of an upload, relative to the naive server</title>
<style>${style}
</style>
<text x="0" y="20" class="title">Processor time of an upload, relative to the naive server</text>
${legend()}
<line x1="${at}" x2="${at}" y1="${top - 14}" y2="${y - groupGap}"/>
${drawn.join('\n')}
</svg>
`;
}

function barsOf(figures: Figures, size: string): Bar[] {
  const piece = (kind: string, system: string) => {
    const figure = figures.find(`CPU of ${kind}`, system, size);
    return figure ? [{ kind, ms: medianOf(figure.values) }] : [];
  };
  const bars = [
    { label: 'Echodrop', pieces: uploadServices.flatMap((service) => piece(service, 'echodrop')) },
    { label: 'naive', pieces: piece('naive', 'naive') },
    { label: 'pass-through', pieces: piece('pass-through', 'pass-through') },
  ];
  return bars.filter(({ pieces }) => pieces.length > 0);
}

function drawBar(bar: Bar, y: number, pixelsPerMs: number, line: number): string {
  let x = left;
  const pieces = bar.pieces.map(({ kind, ms }) => {
    const rect = `<rect x="${x.toFixed(1)}" y="${y}" width="${(ms * pixelsPerMs).toFixed(1)}" height="${barHeight}" class="${kind}"/>`;
    x += ms * pixelsPerMs;
    return rect;
  });
  const label = `<text x="${left - 8}" y="${y + 16}" text-anchor="end">${bar.label}</text>`;
  const crossesLine = x < line && x + valueWidth > line;
  const value = `<text x="${((crossesLine ? line : x) + 8).toFixed(1)}" y="${y + 16}" class="quiet">${Number(msOf(bar).toPrecision(3))} ms</text>`;
  return label + pieces.join('') + value;
}

function legend(): string {
  return uploadServices
    .map((kind, n) => {
      const x = left + n * 150;
      return `<rect x="${x}" y="38" width="14" height="14" class="${kind}"/><text x="${x + 20}" y="50">${kind}</text>`;
    })
    .join('');
}

function msOf({ pieces }: Bar): number {
  return pieces.reduce((sum, { ms }) => sum + ms, 0);
}

function naiveOf(bars: readonly Bar[]): number {
  const naive = bars.find(({ label }) => label === 'naive') ?? bars[0];
  return naive ? msOf(naive) : 1;
}
