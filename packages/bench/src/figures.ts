/** One number of the report: a measurement of a system at a size, once a round. */
export interface Figure {
  readonly name: string;
  readonly system: string;
  /** A sample's size, or another distinction of figures with one name. */
  readonly variant: string;
  readonly unit: string;
  /** The scenario that measured it. */
  readonly scenario: string;
  readonly values: number[];
}

/** Collects what scenarios measure. */
export class Figures {
  readonly all: Figure[] = [];
  /** Any fault fails the run. */
  readonly faults: string[] = [];
  /** The scenario that runs. */
  scenario = '';

  add(
    name: string,
    { system, variant = '', unit }: { system: string; variant?: string; unit: string },
    value: number,
  ): void {
    const found = this.find(name, system, variant);
    if (found) found.values.push(value);
    else this.all.push({ name, system, variant, unit, scenario: this.scenario, values: [value] });
  }

  find(name: string, system: string, variant = ''): Figure | undefined {
    return this.all.find((each) => each.name === name && each.system === system && each.variant === variant);
  }

  fault(where: string, faults: readonly string[]): void {
    this.faults.push(...faults.map((fault) => `${where}: ${fault}`));
  }
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1];
  const high = sorted[Math.floor(middle)];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
