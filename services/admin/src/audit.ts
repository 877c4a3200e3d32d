/** What an operator did to somebody's uploads. */
export interface Act {
  readonly act: 'remove' | 'block' | 'unblock' | 'export';
  readonly mediaId?: string;
  readonly mediaKey?: string;
  readonly provider?: string;
  readonly subject?: string;
  readonly application?: string;
}

/** Leaves a line about an act, before it is done. */
export type Audit = (act: Act) => void;

/** The line: one JSON object, like the lines of a service's log. */
export function auditLine(act: Act): string {
  return JSON.stringify({ level: 'info', time: new Date().toISOString(), service: 'admin', audit: true, ...act });
}
