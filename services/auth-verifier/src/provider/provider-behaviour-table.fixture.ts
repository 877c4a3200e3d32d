import { isProfileName, type ProfileName, profileNames } from '@echodrop/identity-provider/provider-profiles';

const columns = ['Profile', 'Status', 'Headers', 'Body', 'Delay', 'Verdict', 'Counts'];

export const delays = [
  'at once',
  'never',
  'stalls in the headers',
  'stalls in the body',
  'trickles',
  'closes in the body',
  'closes',
  'resets',
  'is not there',
] as const;

export type Delay = (typeof delays)[number];

/** A response in the table of all-responses.md. */
export interface BehaviourRow {
  /** The cells of status, headers, body and delay. */
  readonly text: string;
  readonly profiles: readonly ProfileName[];
  readonly status: number | undefined;
  readonly headers: string;
  readonly body: string;
  readonly delay: Delay;
  readonly outcome: 'verified' | 'refused' | 'provider_unavailable';
  /** The user's number, or `hashed`; undefined if the row has none. */
  readonly userId: bigint | 'hashed' | undefined;
  readonly retryAfterSeconds: number;
  /** Whether ten of these responses open the circuit. */
  readonly counts: boolean;
}

/** Reads the table. Cells separate alternatives by "; ". @throws Error if the table is missing or a row is invalid */
export function behaviourRows(markdown: string): readonly BehaviourRow[] {
  const [head, rule, ...rows] = markdown.split('\n').filter((line) => line.startsWith('|'));
  if (!head || !rule || rows.length === 0) throw new Error('table not found');
  if (cellsOf(head).join() !== columns.join()) throw new Error(`unknown columns: ${head}`);
  return rows.flatMap((line) => combinationsOf(cellsOf(line)).map(rowOf));
}

function cellsOf(line: string): string[] {
  const cells = line.trim().split('|');
  if (cells.length !== columns.length + 2 || cells.at(-1) !== '')
    throw new Error(`not ${columns.length} cells: ${line}`);
  return cells.slice(1, -1).map((cell) => cell.trim());
}

/** Every combination of the cells' alternatives. */
function combinationsOf(cells: readonly string[]): string[][] {
  return cells.reduce<string[][]>(
    (rows, cell) => rows.flatMap((row) => cell.split('; ').map((alternative) => [...row, alternative])),
    [[]],
  );
}

function rowOf(cells: readonly string[]): BehaviourRow {
  const [profile = '', status = '', headers = '', body = '', delay, verdict = '', counts = ''] = cells;
  const expected = verdictIn(verdict);
  const known = delays.find((each) => each === delay);
  const isWhole = /^([1-5]\d\d|none)$/.test(status) && /^(yes|no)$/.test(counts) && headers !== '' && body !== '';
  if (!expected || !known || !isWhole) throw new Error(`invalid row: ${cells.join(' | ')}`);
  return {
    text: [status, headers, body, delay].join(' | '),
    profiles: profilesIn(profile),
    status: status === 'none' ? undefined : Number(status),
    headers,
    body,
    delay: known,
    ...expected,
    counts: counts === 'yes',
  };
}

function profilesIn(cell: string): readonly ProfileName[] {
  if (cell === 'any') return profileNames;
  if (isProfileName(cell)) return [cell];
  throw new Error(`unknown profile: ${cell}`);
}

const outcomes = {
  verified: 'verified',
  credentials_refused: 'refused',
  provider_unavailable: 'provider_unavailable',
} as const;

function verdictIn(cell: string): Pick<BehaviourRow, 'outcome' | 'userId' | 'retryAfterSeconds'> | undefined {
  const shape =
    /^(?:(verified)(?:, user\.id (\d+|hashed))?|(credentials_refused)|(provider_unavailable)(?:, Retry-After (\d+))?)$/;
  const [, verified, userId, refused, unavailable, retryAfter = '10'] = shape.exec(cell) ?? [];
  const reason = verified ?? refused ?? unavailable;
  if (reason === undefined) return undefined;
  return {
    outcome: outcomes[reason as keyof typeof outcomes],
    userId: userId === undefined || userId === 'hashed' ? userId : BigInt(userId),
    retryAfterSeconds: Number(retryAfter),
  };
}
