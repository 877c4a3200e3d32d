// Served from another folder than the scripts of the upload page: ../../sign-in/browser/session.js.
declare module '*/sign-in/session.js' {
  interface Session {
    readonly provider: string;
    readonly providerName: string;
    readonly token: string;
    readonly name: string;
  }
  export function currentSession(): Session | undefined;
  export function credentialHeaders(session: Session): Record<string, string>;
  export function settings(): { upload: string; apiKey: string | undefined };
}
