import { isoBox, u32 } from '@echodrop/testkit/samples/sample-iso';
import { expect, test } from 'vitest';
import { readItems } from './heif-items.ts';

const u16 = (...numbers: readonly number[]) =>
  Buffer.concat(numbers.map((number) => Buffer.from([number >> 8, number & 255])));
const full = (type: string, ...parts: readonly Buffer[]) => isoBox(type, u32(0), ...parts);

test('the properties of each item are read once, however many lists there are', () => {
  const items = 1000;
  const lists = 100_000;
  const ispe = full('ispe', u32(64, 48));
  const first = Buffer.concat([u16(1), Buffer.from([1, 0x81])]);
  // Of another item, without a property.
  const others = Buffer.alloc(lists * 3, Buffer.concat([u16(60_000), Buffer.from([0])]));
  const iprp = isoBox('iprp', isoBox('ipco', ispe), full('ipma', u32(1 + lists), first, others));
  const heif = readItems(Buffer.concat([u32(0), iprp]));
  const before = process.cpuUsage();
  for (let item = 0; item < items; item += 1) heif.propertiesOf(item);
  expect(heif.propertiesOf(1)).toMatchObject([{ type: 'ispe', isEssential: true }]);
  // Reading the lists for each item took more than a minute.
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});
