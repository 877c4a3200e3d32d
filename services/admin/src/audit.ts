/** An operator's action on the uploads of a user or application. */
export interface AuditedAction {
  readonly act: 'remove' | 'block' | 'unblock' | 'export';
  readonly mediaId?: string;
  readonly mediaKey?: string;
  readonly provider?: string;
  readonly subject?: string;
  readonly application?: string;
}

/** Logs an action before it happens. */
export type Audit = (action: AuditedAction) => void;

/** The audit line: a JSON object like the lines of a service's log. */
export function auditLine(action: AuditedAction): string {
  return JSON.stringify({ level: 'info', time: new Date().toISOString(), service: 'admin', audit: true, ...action });
}
