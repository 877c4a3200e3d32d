/** What a page may do beside showing our own pictures, videos and style sheets. */
interface Leave {
  readonly framedBy: "'none'" | '*';
  /** It runs our own scripts, which may ask this origin, and shows the file that was chosen. */
  readonly scripts?: { readonly askOf: string };
}

/** The Content-Security-Policy of a page: nothing but what is ours, nothing inline, and no script unless said. */
export function pagePolicy({ framedBy, scripts }: Leave): string {
  const chosen = scripts ? ' blob:' : '';
  return [
    "default-src 'none'",
    `img-src 'self'${chosen}`,
    `media-src 'self'${chosen}`,
    "style-src 'self'",
    ...(scripts ? ["script-src 'self'", `connect-src ${scripts.askOf}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${framedBy}`,
  ].join('; ');
}
