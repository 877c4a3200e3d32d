import { spellForwardedFor } from '@echodrop/service/forwarded-for';
import express from 'express';

const app = express();
app.set('trust proxy', ['127.0.0.1', '10.0.0.0/8', 'fc00::/7']);

/** The address of a client according to Express, of a request that a trusted peer forwards. */
export function clientOf(header: string | undefined): string | undefined {
  const headers = header === undefined ? {} : { 'x-forwarded-for': header };
  spellForwardedFor(headers);
  const request = Object.create(app.request, { app: { value: app } });
  return Object.assign(request, { headers, socket: { remoteAddress: '127.0.0.1' } }).ip;
}
