import type { Habit } from '@echodrop/object-store/habits.fixture';
import { findProgram } from '@echodrop/testkit/find-program';
import { execa } from 'execa';

/** The keys of every store; Garage accepts no other form. */
export const keys = { accessKey: 'GK0123456789abcdef01234567', secretKey: '0123456789abcdef'.repeat(4) } as const;

/** Where a store runs: a free port of loopback, and an empty folder of its own. */
interface Place {
  readonly port: number;
  readonly folder: string;
}

interface Launch {
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
}

/** A store that tests can start, and what is different there. */
export interface StoreKind {
  readonly name: string;
  /** How to get it. */
  readonly from: string;
  /** @returns the start of its command, undefined if it is missing */
  readonly find: () => Promise<[string, ...string[]] | undefined>;
  /** Prepares its folder. @returns the end of its command */
  readonly prepare: (place: Place) => Promise<Launch>;
  readonly region?: string;
  /** Habits of another store, by a proxy in front of it. */
  readonly habits?: readonly Habit[];
  /** What `admin store-test` says beside `ok`: how each line begins. */
  readonly findings?: readonly string[];
  /** What it may say as well: a race decides. */
  readonly possibleFindings?: readonly string[];
  /** Whether what it stores is gone after a stop. */
  readonly isInMemory?: boolean;
  /** Whether it refuses writes for half a minute after a restart, although it reads. */
  readonly writesLate?: boolean;
  /** Whether it dates incomplete uploads long ago, so that a sweep ends forms that are being received. */
  readonly datesUploadsWrongly?: boolean;
}

/** How lines of `admin store-test` begin. */
export const notes = {
  noConditions: 'note   The store ignores or refuses conditional writes',
  md5: 'note   The store refuses CRC-32 checksums, or does not verify them: writes carry an MD5',
  tags: 'note   The store verifies no checksums: the tag of each write',
  oneWrite: 'note   The store refuses a second write of an object within a second',
  equalParts: 'note   The store refuses parts of different sizes',
  keptPart: 'note   The store keeps a part that was replaced, and joins the one that was named.',
  otherTags: 'note   The store changes the tags of multipart uploads',
  noEmptyList: 'note   The store responds with NoSuchUpload to a list',
  otherReason: 'note   The store gives another reason than a checksum',
  wrongTime: 'wrong  Incomplete uploads are listed with a wrong time',
};

/** The program that a variable names, or that is in PATH. @throws Error if the variable names none */
export async function programOf(variable: string, name: string): Promise<[string] | undefined> {
  const named = process.env[variable];
  const path = await findProgram(named || name);
  if (named && path === undefined) throw new Error(`${variable} is no program: ${named}`);
  return path === undefined ? undefined : [path];
}

export async function canRun(command: string, ...args: readonly string[]): Promise<boolean> {
  return !(await execa(command, args, { reject: false })).failed;
}
