import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

// A DNS in the same network responds in a tenth of this.
const patienceMs = 100;

type Resolve = (host: string, options: { readonly all: true }) => Promise<readonly LookupAddress[]>;

/**
 * Resolves the name of a configured server for each connection. While the DNS is slow or fails, returns the previous addresses: in a
 * cluster, a lost node may have run half of the DNS.
 */
export const rememberedLookup: LookupFunction = rememberLookups(lookup);

export function rememberLookups(resolve: Resolve): LookupFunction {
  const remembered = new Map<string, readonly LookupAddress[]>();
  const running = new Map<string, Promise<readonly LookupAddress[]>>();

  // One query for a name at a time, because each without a response occupies a thread for seconds, and there are four.
  const query = (host: string) => {
    const addresses = resolve(host, { all: true }).finally(() => running.delete(host));
    running.set(host, addresses);
    return addresses;
  };
  const addressesOf = async (host: string) => {
    const current = (running.get(host) ?? query(host)).then((addresses) => {
      remembered.set(host, addresses);
      return addresses;
    });
    const previous = remembered.get(host);
    if (previous === undefined) return current;
    return Promise.race([current.catch(() => previous), sleep(patienceMs, previous)]);
  };
  return (host, { family = 0, all = false }, found) => {
    addressesOf(host).then(
      (addresses) => {
        const wanted = addresses.filter((address) => !Number(family) || address.family === Number(family));
        const [first] = wanted;
        if (first === undefined) found(new Error(`${host} has no address of family ${family}`), '');
        else if (all) found(null, wanted);
        else found(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => found(error, ''),
    );
  };
}
