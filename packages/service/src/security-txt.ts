import { contactAddress } from './shared-settings.ts';

export const securitySettings = {
  SECURITY_CONTACT: contactAddress()
    .optional()
    .describe('`https:` or `mailto:` address for reports of vulnerabilities, in `/.well-known/security.txt`'),
};

const validMonths = 6;

/** The content of `/.well-known/security.txt` (RFC 9116). Expires at the start of a month, five to six months from `now`. */
export function securityTxt(contact: string, now: Date): string {
  const expires = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + validMonths));
  return `Contact: ${new URL(contact).href}\nExpires: ${expires.toISOString()}\n`;
}
