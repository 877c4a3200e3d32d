import type { RequestHandler, Response } from 'express';

/** Sends an error with a code of X, which old clients know. */
export function refuse(response: Response, status: number, code: number, message: string): void {
  response.status(status).json({ errors: [{ code, message }] });
}

export function notAllowed(methods: string): RequestHandler {
  return (_request, response) => refuse(response.set('Allow', methods), 405, 86, `Allowed methods: ${methods}`);
}
