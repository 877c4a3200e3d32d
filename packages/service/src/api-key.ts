import { z } from 'zod';

/** An API key of one application. Public where pages contain it. */
export function apiKey() {
  return z
    .string('is required')
    .regex(/^[\w.~-]{1,200}$/, 'must be letters, digits, dots, hyphens, tildes and underscores');
}
