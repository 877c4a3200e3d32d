import { type Figure, type Figures, medianOf } from './figures.ts';
import { goalOf, missedOf, verdictOf } from './goals.ts';

/** The figures as lines of text: median, spread over the rounds, and whether the goal is met. Missed goals and faults are last. */
export function reportOf(figures: Figures): string {
  const { all, faults } = figures;
  const names = [...new Set(all.map(({ name }) => name))];
  const lines = names.flatMap((name) => ['', name, ...all.filter((figure) => figure.name === name).map(lineOf)]);
  const listed = faults.slice(0, 20).map((fault) => `  ${fault.slice(0, 300)}`);
  const wrong = faults.length > 0 ? ['', `${faults.length} wrong responses, records or bytes:`, ...listed] : [];
  const missed = missedOf(figures);
  const misses =
    missed.length > 0 ? ['', 'Missed goals:', ...missed.map((figure) => `  ${figure.name}${lineOf(figure)}`)] : [];
  return [...lines, ...misses, ...wrong, ''].join('\n');
}

function lineOf(figure: Figure): string {
  const { system, variant, unit } = figure;
  const goal = goalOf(figure);
  const verdict = goal ? `  ${verdictOf(figure)} (minimum ${goal.minimum}, aim ${goal.aim})` : '';
  return `  ${system.padEnd(14)} ${variant.padEnd(10)} ${medianText(figure).padStart(10)} ${unit.padEnd(6)} ${spreadText(figure).padEnd(18)}${verdict}`;
}

export function medianText({ values }: Figure): string {
  return round(medianOf(values));
}

/** The smallest and the largest value, if there was more than one round. */
export function spreadText({ values }: Figure): string {
  return values.length > 1 ? `${round(Math.min(...values))}..${round(Math.max(...values))}` : '';
}

function round(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
