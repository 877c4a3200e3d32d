import type { Request, Response } from 'express';
import { answerRefusal, type Format } from './answer.ts';
import { Refusal } from './refusals.ts';

/** Refuses whatever an address does not take with 405, and names in `Allow` what it does. */
export function methodNotAllowed(allowed: string, format: Format): (request: Request, response: Response) => void {
  return (request, response) => {
    response.setHeader('Allow', allowed);
    answerRefusal(request, response, format, new Refusal('method_not_allowed'));
  };
}
