import { isTemporary, messagesOf, type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { table } from './table.ts';

/** Every reason of an error response, with its first message. The OpenAPI document has all messages. */
export function errorTable(): string {
  const reasons = Object.keys(refusals) as Reason[];
  return table(
    ['Status', 'Reason', 'Message', 'Retry'],
    reasons.map((reason) => [
      String(refusals[reason][0]),
      `\`${reason}\``,
      messagesOf(reason)[0] ?? '',
      isTemporary(reason) ? 'yes' : 'no',
    ]),
  );
}
