import { InvalidArgumentError } from 'commander';

/** Returns a parser of options that are whole numbers from 1 to `max`. */
export function parseUpTo(max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d{1,5}$/.test(text) || number < 1 || number > max) throw new InvalidArgumentError(`Must be 1 to ${max}.`);
    return number;
  };
}
