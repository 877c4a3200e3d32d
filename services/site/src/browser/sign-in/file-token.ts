/** A token for files with which other programs upload. It begins no session, so that signing out does not end it. */
export type FileToken = { provider: string; token: string; name: string; expiresAt?: number };

const key = 'echodrop.file-token';

/** Keeps a token for the page to which the sign-in returns. */
export function keepFileToken({ provider, token, name, expiresAt }: FileToken) {
  sessionStorage.setItem(key, JSON.stringify({ provider, token, name, expiresAt }));
}

/** The token for which this tab signed in. It can be taken once, so that it does not stay in the browser. */
export function takeFileToken(): FileToken | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    sessionStorage.removeItem(key);
    const fields = [kept?.provider, kept?.token, kept?.name];
    return fields.every((field) => typeof field === 'string') ? kept : undefined;
  } catch {
    return undefined;
  }
}
