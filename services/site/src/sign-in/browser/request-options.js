// @ts-check
import { limitedFetch } from './limited-fetch.js';
import * as oauth from './oauth4webapi/build/index.js';

/**
 * Options of each request to a provider: a limit for the response, and plain HTTP only if the operator configured an http: address.
 *
 * @param {string} address
 * @param {AbortSignal} signal with a time limit, which all requests of a step share
 */
export function requestOptions(address, signal) {
  return {
    signal,
    [oauth.allowInsecureRequests]: new URL(address).protocol === 'http:',
    [oauth.customFetch]: limitedFetch,
  };
}
