import { pictureRecipes, videoRecipe } from '@echodrop/media/recipes';
import compression from 'compression';
import express, { type Express, type RequestHandler } from 'express';
import { documentationPage } from './pages/documentation-page.ts';
import { homePage } from './pages/home-page.ts';
import { sendPage } from './pages/page.ts';
import { sendProblem } from './pages/problem-page.ts';
import { answerFailure } from './routes/answer-failure.ts';
import { followRequest } from './routes/follow-request.ts';
import { showDirect } from './routes/show-direct.ts';
import { showHistoric } from './routes/show-historic.ts';
import { showOembed } from './routes/show-oembed.ts';
import { showPage } from './routes/show-page.ts';
import { showPlayer } from './routes/show-player.ts';
import { showRendition } from './routes/show-rendition.ts';
import { showUser } from './routes/show-user.ts';
import { fixedFile } from './serve/fixed-file.ts';
import { redirect } from './serve/redirect.ts';
import { safeHeaders } from './serve/safe-headers.ts';
import type { Site } from './site.ts';
import { uploadRoutes } from './upload-page/upload-routes.ts';

/** The public site: pages of media, and the renditions that they show. What was uploaded has no address of its own. */
export function siteApp(site: Site): Express {
  const app = express().disable('x-powered-by').enable('case sensitive routing').enable('strict routing');
  app.use(followRequest(site.events), safeHeaders, onlyOneHost(site), onlyReading(site));

  for (const recipe of Object.values(pictureRecipes)) {
    app.get(`/:id/${recipe.name}.${recipe.extension}`, showRendition(recipe, site));
  }
  app.get('/:id/video.mp4', showRendition(videoRecipe, site));
  // Names of earlier releases: posts elsewhere link to them.
  app.get('/:id/film.mp4', showRendition(videoRecipe, site));
  app.get('/:id/card.jpg', showRendition(pictureRecipes.large, site));
  app.get('/show/:size/:name', showHistoric(site));
  app.get('/:id.:extension', showDirect(site));

  // Texts alone: pictures and videos, and ranges of them, go as they are.
  app.use(compression());
  app.get('/', (_request, response) => sendPage(response, 200, homePage(site), site));
  app.get('/documentation', (_request, response) => sendPage(response, 200, documentationPage(site), site));
  for (const name of ['style.css', 'favicon.svg', 'player.css']) {
    app.get(`/${name}`, fixedFile(new URL(`./${name}`, import.meta.url)));
  }
  app.get('/by/:owner', showUser(site));
  app.use(uploadRoutes(site));
  // Led on, a script of another site would not get there.
  app.get(['/oembed', '/oembed/'], showOembed(site));
  app.get('/:id', showPage(site));
  app.get('/:id/player', showPlayer(site));

  app.use(withoutTrailingSlash);
  app.use((_request, response) => sendProblem(response, 'not_found', site));
  return app.use(answerFailure(site));
}

// Our addresses are of these letters alone; a path that begins with two slashes would lead to another site.
const slashedPath = /^((?:\/[\w.-]+)+)\/+$/;

const withoutTrailingSlash: RequestHandler = ({ path, url }, response, next) => {
  const [, plain] = slashedPath.exec(path) ?? [];
  if (plain === undefined) next();
  else redirect(response, `${plain}${/\?.*/.exec(url)?.[0] ?? ''}`, 301);
};

// RFC 9112 section 3.2.
function onlyOneHost(site: Site): RequestHandler {
  return ({ headersDistinct }, response, next) => {
    if ((headersDistinct.host?.length ?? 0) > 1) sendProblem(response, 'malformed', site);
    else next();
  };
}

function onlyReading(site: Site): RequestHandler {
  return ({ method }, response, next) => {
    if (method === 'GET' || method === 'HEAD') next();
    else sendProblem(response, 'method_not_allowed', site);
  };
}
