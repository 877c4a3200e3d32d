import type { StoreFinding } from '@echodrop/archive/store-finding';

/** What was found, and what to do about it, in one line. */
export function storeFindingLine(found: StoreFinding): string {
  return `${found.key}: ${'fault' in found ? `WRONG: ${sentence(found)}` : leftoverSentence(found)}`;
}

/** Whether something is wrong. */
export function isFault(found: StoreFinding): boolean {
  return 'fault' in found;
}

function sentence(found: Extract<StoreFinding, { fault: string }>): string {
  switch (found.fault) {
    case 'record_unreadable':
      return `the record cannot be read (${found.why}). Bring it back from a backup; until then nothing is swept.`;
    case 'no_record':
      return 'it lies among the records, and its name is none of a record. Whoever put it there may take it away.';
    case 'record_misplaced':
      return `it is the record of ${found.id}, under another name. Bring the right one back from a backup, or delete it.`;
    case 'media_missing':
      return `the media of ${found.id} is not there. Bring it back from a backup, or take the upload down: remove ${found.id}`;
    case 'media_of_other_size':
      return `the media of ${found.id} has ${found.stored} bytes, its record says ${found.recorded}. Bring it back from a backup.`;
    case 'media_of_other_tag':
      return (
        `the media of ${found.id} has the tag ${found.stored}, its record says ${found.recorded}: it was written anew since. Where everything was ` +
        'moved here from another store, ask with --moved; else bring it back from a backup.'
      );
    case 'media_spoiled':
      return `the media of ${found.id} is not what was uploaded (${found.why}). Bring it back from a backup.`;
    case 'not_listed':
      return `the list lacks ${found.id}. rebuild-listings writes it anew.`;
    case 'lists_nothing':
      return 'it lists nothing that is published. rebuild-listings takes it away.';
    case 'removal_unfinished':
      return `it was to go with the removal of ${found.id}. Finish that: remove ${found.id}`;
  }
}

function leftoverSentence({ leftover, size, age }: Exclude<StoreFinding, { fault: string }>): string {
  const what = leftover === 'media' ? 'media without a record' : 'a rendition of media without a record';
  return age === 'young'
    ? `${what}, ${size} bytes, younger than a day: an upload may be under way.`
    : `${what}, ${size} bytes: sweep removes it.`;
}
