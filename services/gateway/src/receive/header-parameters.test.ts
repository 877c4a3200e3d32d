import { expect, test, vi } from 'vitest';
import { parametersOf } from './header-parameters.ts';

test('a repeated parameter keeps all values', () => {
  expect([...parametersOf('a; B=1;b="\\"2";c=')]).toEqual([
    ['b', ['1', '"2']],
    ['c', ['']],
  ]);
});

test('a header of 16 KiB has parameters, a longer one none', () => {
  const prefix = 'form-data; filename="a"; name=';
  const longest = prefix + 'b'.repeat(16 * 1024 - prefix.length);
  expect(parametersOf(longest).size).toBe(2);
  expect(parametersOf(`${longest}b`).size).toBe(0);
});

test('a header with more than 100 parameters has none', () => {
  expect(parametersOf(`a${';b=c'.repeat(100)}`).get('b')).toHaveLength(100);
  expect(parametersOf(`a${';b=c'.repeat(101)}`).size).toBe(0);
});

test('the search stops at the first parameter too many', () => {
  expect(searchesIn(`a${';b='.repeat(5000)}`)).toBe(101);
});

test('a header of 1 MB is not searched', () => {
  expect(searchesIn(`form-data${';a="'.repeat(2 ** 18)}`)).toBe(0);
});

/** The number of searches for a parameter in this header. */
function searchesIn(header: string): number {
  const searches = vi.spyOn(RegExp.prototype, 'exec');
  parametersOf(header);
  const { length } = searches.mock.calls;
  searches.mockRestore();
  return length;
}
