import type { Response } from 'express';
import { type Html, html } from './html.ts';

/** A page: its title, and what stands in its `main`. */
export interface Page {
  readonly title: string;
  readonly body: Html;
}

const policy = [
  "default-src 'none'",
  "img-src 'self'",
  "media-src 'self'",
  "style-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Sends a page; browsers keep it, but ask each time whether it is still so. */
export function sendPage(response: Response, status: number, page: Page): void {
  response
    .status(status)
    .set({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': policy })
    .type('html')
    .send(document(page).toString());
}

function document({ title, body }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><a class="site" href="/">Echodrop</a></header>
<main>
${body}
</main>
</body>
</html>
`;
}
