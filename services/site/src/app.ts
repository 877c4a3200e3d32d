import { readFileSync } from 'node:fs';
import { filmRecipe, pictureRecipes } from '@echodrop/media/recipes';
import express, { type Express, type RequestHandler } from 'express';
import { answerFailure } from './answer-failure.ts';
import type { RenditionSources } from './find-rendition.ts';
import { followRequest } from './follow-request.ts';
import { homePage } from './home-page.ts';
import { sendPage } from './page.ts';
import { sendProblem } from './problem-page.ts';
import { safeHeaders } from './safe-headers.ts';
import { showPage } from './show-page.ts';
import { showRendition } from './show-rendition.ts';

/** The public site: pages of media, and the renditions that they show. What was uploaded has no address of its own. */
export function siteApp(sources: RenditionSources): Express {
  const { events } = sources;
  const style = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

  const app = express().disable('x-powered-by').enable('case sensitive routing').enable('strict routing');
  app.use(followRequest(events), safeHeaders, onlyReading);

  app.get('/', (_request, response) => sendPage(response, 200, homePage));
  app.get('/style.css', (_request, response) => {
    response.set('Cache-Control', 'public, max-age=3600').type('css').send(style);
  });

  app.get('/:id', showPage(sources));
  app.get('/:id/large.jpg', showRendition(pictureRecipes.large, sources));
  app.get('/:id/film.mp4', showRendition(filmRecipe, sources));

  app.use((_request, response) => sendProblem(response, 'not_found'));
  return app.use(answerFailure(events));
}

const onlyReading: RequestHandler = ({ method }, response, next) => {
  if (method === 'GET' || method === 'HEAD') next();
  else sendProblem(response, 'method_not_allowed');
};
