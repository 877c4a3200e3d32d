import type { RequestListener } from 'node:http';
import { pictureRecipes, videoRecipe } from '@echodrop/media/rendition-recipes';
import { StoreUnavailable } from '@echodrop/object-store/object-store';
import { UnreadableRecord } from '@echodrop/record';
import { spellForwardedFor } from '@echodrop/service/forwarded-for';
import { routePaths } from '@echodrop/service/request-target';
import { securityTxt } from '@echodrop/service/security-txt';
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { scriptFolders } from './browser/script-folders.ts';
import { documentationPage } from './pages/documentation-page.ts';
import { homePage } from './pages/home-page.ts';
import { fixedPage } from './pages/page.ts';
import { sendProblem } from './pages/problem-page.ts';
import { limitRequests } from './routes/limit-requests.ts';
import { logRequests, requestIdOf } from './routes/log-requests.ts';
import { ownPageRoutes } from './routes/own-pages.ts';
import { showOembed } from './routes/show-oembed.ts';
import { showPage, showPlayer } from './routes/show-page.ts';
import { showDirect, showHistoric, showRendition } from './routes/show-rendition.ts';
import { showUser } from './routes/show-user.ts';
import { fixedFile, scriptFiles } from './serve/fixed-files.ts';
import { redirect } from './serve/redirect.ts';
import type { Site } from './site.ts';

/** The public site: pages, and the renditions that they show. Originals have no address. */
export function siteApp(site: Site): RequestListener {
  const app = express().disable('x-powered-by').enable('case sensitive routing').enable('strict routing');
  app.set('trust proxy', site.trustedProxies);
  app.use((request, _response, next) => {
    spellForwardedFor(request.headers);
    next();
  });
  app.use(logRequests(site.events), setSafeHeaders, requireOneHost(site), allowReadsOnly(site), limitRequests(site));

  for (const recipe of Object.values(pictureRecipes)) {
    app.get(`/:id/${recipe.name}.${recipe.extension}`, showRendition(recipe, site));
  }
  app.get('/:id/video.mp4', showRendition(videoRecipe, site));
  // Links from other sites contain these names of earlier releases.
  app.get('/:id/film.mp4', showRendition(videoRecipe, site));
  app.get('/:id/card.jpg', showRendition(pictureRecipes.large, site));
  app.get('/show/:size/:name', showHistoric(site));
  app.get('/:id.:extension', showDirect(site));

  app.get('/', fixedPage(homePage(site), site));
  app.get('/documentation', fixedPage(documentationPage(site), site));
  const style = (name: string) => new URL(`./styles/${name}.css`, import.meta.url);
  app.get('/style.css', fixedFile(style('frame'), style('media-page'), style('user-page'), style('text-pages')));
  app.get('/player.css', fixedFile(style('player')));
  app.get('/favicon.svg', fixedFile(new URL('./favicon.svg', import.meta.url)));
  app.get('/favicon.ico', (_request, response) => redirect(response, '/favicon.svg'));
  app.get('/robots.txt', (_request, response) => sendText(response, robotsTxt));
  const { securityContact } = site;
  if (securityContact !== undefined)
    app.get('/.well-known/security.txt', (_request, response) =>
      sendText(response, securityTxt(securityContact, new Date())),
    );
  app.get('/by/:owner', showUser(site));
  app.get('/scripts/:name', scriptFiles(scriptFolders.scripts));
  // A router delays requests that it passes on.
  if (site.upload) app.use(ownPageRoutes(site));
  // Scripts of other sites could not follow a redirect to it.
  app.get(['/oembed', '/oembed/'], showOembed(site));
  app.get('/:id', showPage(site));
  app.get('/:id/player', showPlayer(site));

  app.use(removeTrailingSlash);
  app.use((_request, response) => sendProblem(response, 'not_found', site));
  app.use(handleErrors(site));
  return routePaths(app, (_request, response) => sendProblem(response as Response, 'malformed', site));
}

// A crawler that may not read a page never sees its `noindex`. Also, sites that show a preview of a link obey this file.
const robotsTxt = 'User-agent: *\nDisallow:\n';

function sendText(response: Response, text: string): void {
  response.set('Cache-Control', 'public, max-age=3600').type('text/plain').send(text);
}

// The path has only characters of Echodrop's addresses: a redirect to a path with two leading slashes would lead to another site.
const slashedPath = /^((?:\/[\w.-]+)+)\/+$/;

const removeTrailingSlash: RequestHandler = ({ path, url }, response, next) => {
  const [, target] = slashedPath.exec(path) ?? [];
  if (target === undefined) next();
  else redirect(response, `${target}${/\?.*/.exec(url)?.[0] ?? ''}`, 301);
};

const safeHeaders = new Map([
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'strict-origin-when-cross-origin'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
]);

/** Prevents content sniffing, framing, and cross-origin reads and referrers. */
const setSafeHeaders: RequestHandler = (_request, response, next) => {
  response.setHeaders(safeHeaders);
  next();
};

// RFC 9112 section 3.2.
function requireOneHost(site: Site): RequestHandler {
  return ({ rawHeaders }, response, next) => {
    const hosts = rawHeaders.filter((name, n) => n % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host');
    if (hosts.length > 1) sendProblem(response, 'malformed', site);
    else next();
  };
}

function allowReadsOnly(site: Site): RequestHandler {
  return ({ method }, response, next) => {
    if (method === 'GET' || method === 'HEAD') next();
    else sendProblem(response, 'method_not_allowed', site);
  };
}

/** Responds to errors of routes. A response that has begun is cut off, so that it cannot pass for complete. */
function handleErrors(site: Site): ErrorRequestHandler {
  return (error, request, response, _next) => {
    // Express could not decode the path.
    if (error instanceof URIError && 'status' in error && error.status === 400)
      return sendProblem(response, 'not_found', site);
    const isUnavailable = error instanceof StoreUnavailable;
    // The reader has left.
    if (request.socket.destroyed && !isUnavailable) return;
    const kind = isUnavailable ? 'store' : 'unexpected';
    // Unreadable records are reported by their ids.
    if (!(error instanceof UnreadableRecord)) site.events.requestFailed(requestIdOf(response), kind, error);
    if (response.headersSent) return void response.destroy();
    sendProblem(response, isUnavailable ? 'unavailable' : 'failed', site);
  };
}
