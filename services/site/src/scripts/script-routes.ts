import { Router } from 'express';
import { fixedFile } from '../serve/fixed-file.ts';

const names = ['answer', 'copy-button', 'elements', 'format', 'share-fields', 'sign-in-again'];

/** The scripts that several pages share, below `/scripts`. */
export function scriptRoutes(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const name of names) {
    router.get(`/scripts/${name}.js`, fixedFile(new URL(`./${name}.js`, import.meta.url)));
  }
  return router;
}
