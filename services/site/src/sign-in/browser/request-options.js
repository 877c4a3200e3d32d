// @ts-check
import * as oauth from './oauth4webapi/build/index.js';

const timeoutMs = 15_000;

/**
 * Options of each request to a provider: a time limit, and plain HTTP only if the operator configured an http: address.
 *
 * @param {string} address
 */
export function requestOptions(address) {
  return {
    signal: AbortSignal.timeout(timeoutMs),
    [oauth.allowInsecureRequests]: new URL(address).protocol === 'http:',
  };
}
