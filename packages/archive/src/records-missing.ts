/** Most media has no record: lost records are more likely than so many failed uploads. */
export class RecordsMissing extends Error {
  override readonly name = 'RecordsMissing';

  constructor(unreferenced: number, keys: number) {
    super(
      `${unreferenced} of ${keys} media have no record, so records are probably lost. No media was deleted. Restore the records from a backup. Only if you do not need these uploads, use --force: it deletes their media for good.`,
    );
  }
}

// A young system may have more failed uploads than published ones.
const maxUnsuspicious = 20;

/** Whether so many media without a record mean that records are lost. */
export function isSuspicious(unreferenced: number, keys: number, hasRecords: boolean): boolean {
  return hasRecords ? unreferenced > maxUnsuspicious && unreferenced > keys / 2 : unreferenced > 0;
}
