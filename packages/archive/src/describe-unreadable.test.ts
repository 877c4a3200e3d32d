import { UnreadableRecord } from '@echodrop/record';
import { expect, test } from 'vitest';
import { describeUnreadable } from './describe-unreadable.ts';
import { RecordNotFound } from './records.ts';

test('a record that the store only does not find is not to be deleted', () => {
  expect(describeUnreadable('0aZ9bY8cX7', new RecordNotFound())).not.toContain('delete');
  expect(describeUnreadable('0aZ9bY8cX7', new UnreadableRecord('invalid id'))).toContain('delete');
});
