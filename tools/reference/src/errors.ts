import { isTemporary, messagesOf, type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { table } from './table.ts';

/** Every error response, one row for each message. */
export function errorTable(): string {
  const reasons = Object.keys(refusals) as Reason[];
  return table(
    ['Status', 'Reason', 'Message', 'Retry'],
    reasons.flatMap((reason) =>
      messagesOf(reason).map((sentence) => [
        String(refusals[reason][0]),
        `\`${reason}\``,
        sentence,
        isTemporary(reason) ? 'yes' : 'no',
      ]),
    ),
  );
}
