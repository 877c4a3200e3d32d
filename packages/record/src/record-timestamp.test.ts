import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uploadTimestamp } from './response-fields.ts';

test('has the format of the interface, to the second', () => {
  expect(uploadTimestamp(new Date('2026-01-04T23:59:59.999Z'))).toBe('Sun, 04 Jan 2026 23:59:59 +0000');
  const shape =
    /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d \+0000$/;
  const times = fc.date({ min: new Date('2000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(times, (time) => {
      const written = uploadTimestamp(time);
      expect(written).toMatch(shape);
      expect(Date.parse(written)).toBe(Math.floor(time.getTime() / 1000) * 1000);
    }),
  );
});
