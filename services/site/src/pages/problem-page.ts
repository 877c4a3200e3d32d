import type { Response } from 'express';
import { html } from './html.ts';
import { type SiteFrame, sendPage } from './page.ts';

const problems = {
  malformed: { status: 400, title: 'Malformed request', sentence: 'A request needs exactly one Host header.' },
  not_found: { status: 404, title: 'Not found', sentence: 'No photo or video at this address.' },
  gone: { status: 410, title: 'Removed', sentence: 'This photo or video has been removed.' },
  unsupported: { status: 404, title: 'Cannot be displayed', sentence: 'This file cannot be displayed.' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    sentence: 'This address is read-only.',
  },
  failed: { status: 500, title: 'Server error', sentence: 'An internal error occurred and was logged.' },
  not_ready: {
    status: 503,
    title: 'Still processing',
    sentence: 'This file is still being processed. Try again in a moment.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    sentence: 'This page cannot be loaded right now. Try again in a moment.',
  },
};

export type Problem = keyof typeof problems;

const retrySeconds = 5;

/** Sends an error page and discards headers prepared for another response. */
export function sendProblem(response: Response, problem: Problem, frame: SiteFrame): void {
  const { status, title, sentence } = problems[problem];
  response.removeHeader('ETag');
  if (status === 405) response.set('Allow', 'GET, HEAD');
  if (status === 503) response.set('Retry-After', String(retrySeconds));
  const body = html`<div class="text problem">
<p class="status" aria-hidden="true">${status}</p>
<h1>${title}</h1>
<p>${sentence}</p>
</div>`;
  sendPage(response, status, { title, body }, frame);
}
