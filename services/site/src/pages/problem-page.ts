import type { Response } from 'express';
import { html } from './html.ts';
import { BuiltPage, type SiteFrame } from './page.ts';

const problems = {
  malformed: [400, 'Malformed request', 'A request needs a path, and exactly one Host header.'],
  not_found: [404, 'Not found', 'No photo or video at this address.'],
  gone: [410, 'Deleted', 'This photo or video has been deleted.'],
  unsupported: [404, 'Cannot be displayed', 'This file cannot be displayed.'],
  method_not_allowed: [405, 'Method not allowed', 'This address is read-only.'],
  failed: [500, 'Server error', 'An internal error occurred and was logged.'],
  not_ready: [503, 'Still processing', 'This file is still being processed. Try again in a moment.'],
  unavailable: [503, 'Temporarily unavailable', 'This page cannot be loaded right now. Try again in a moment.'],
} as const satisfies Record<string, readonly [status: number, title: string, sentence: string]>;

type Problem = keyof typeof problems;

const retrySeconds = 5;

/** Sends an error page and discards headers prepared for another response. */
export function sendProblem(response: Response, problem: Problem, frame: SiteFrame): void {
  const [status, title, sentence] = problems[problem];
  response.removeHeader('ETag');
  if (status === 405) response.set('Allow', 'GET, HEAD');
  if (status === 503) response.set('Retry-After', String(retrySeconds));
  const body = html`<div class="text problem">
<p class="status" aria-hidden="true">${status}</p>
<h1>${title}</h1>
<p>${sentence}</p>
</div>`;
  new BuiltPage({ title, body }, frame).send(response, status);
}
