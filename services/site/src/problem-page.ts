import type { Response } from 'express';
import { html } from './html.ts';
import { type Owner, sendPage } from './page.ts';

/** Every answer that is neither a page of media nor its bytes. */
const problems = {
  malformed: { status: 400, title: 'Malformed request', sentence: 'A request has exactly one Host header.' },
  not_found: { status: 404, title: 'Nothing here', sentence: 'There is no photo and no film at this address.' },
  gone: { status: 410, title: 'No longer here', sentence: 'What was shown at this address has been removed.' },
  unsupported: { status: 404, title: 'Cannot be shown', sentence: 'What was uploaded here cannot be shown.' },
  method_not_allowed: {
    status: 405,
    title: 'Only to look at',
    sentence: 'This address can be read, and nothing else.',
  },
  failed: { status: 500, title: 'Our fault', sentence: 'Something went wrong here. We have made a note of it.' },
  not_ready: {
    status: 503,
    title: 'Not ready yet',
    sentence: 'It is still being made. Please look again in a moment.',
  },
  unavailable: {
    status: 503,
    title: 'Not just now',
    sentence: 'We cannot get at it now. Please look again in a moment.',
  },
};

export type Problem = keyof typeof problems;

const retrySeconds = 5;

/** Answers with a problem's page, whatever was prepared for this answer before. */
export function sendProblem(response: Response, problem: Problem, owner: Owner): void {
  const { status, title, sentence } = problems[problem];
  response.removeHeader('ETag');
  if (status === 405) response.set('Allow', 'GET, HEAD');
  if (status === 503) response.set('Retry-After', String(retrySeconds));
  const body = html`<div class="text problem">
<p class="status" aria-hidden="true">${status}</p>
<h1>${title}</h1>
<p>${sentence}</p>
</div>`;
  sendPage(response, status, { title, body }, owner);
}
