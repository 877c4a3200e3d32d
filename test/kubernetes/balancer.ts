import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type LookupFunction, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { Cluster } from './cluster.ts';

interface SliceEvent {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string }; readonly endpoints?: readonly Endpoint[] };
}
interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready?: boolean };
}

export interface Balancer extends AsyncDisposable {
  readonly origin: string;
}

/**
 * A TCP proxy on loopback that does what an Ingress controller or load balancer does: it watches the ready endpoints of a Service, and
 * tries the next if one does not accept a connection.
 */
export async function startBalancer({ watch }: Cluster, service: string, port: number): Promise<Balancer> {
  const slices = new Map<string, readonly string[]>();
  const selector = `kubernetes.io%2Fservice-name%3D${service}`;
  const watching = watch(
    `/apis/discovery.k8s.io/v1/namespaces/echodrop/endpointslices?watch=1&labelSelector=${selector}`,
  );
  createInterface({ input: watching.output }).on('line', (line) => {
    const { type, object } = JSON.parse(line) as SliceEvent;
    const ready = (object.endpoints ?? []).filter(({ conditions }) => conditions.ready);
    slices.set(object.metadata.name, type === 'DELETED' ? [] : ready.flatMap(({ addresses }) => addresses));
  });
  const open = new Set<Socket>();
  let connections = 0;
  // Node tries the addresses one after the other.
  const lookup: LookupFunction = (_host, _options, found) => {
    const all = [...slices.values()].flat();
    const first = connections++ % Math.max(1, all.length);
    const inTurn = [...all.slice(first), ...all.slice(0, first)];
    if (inTurn.length === 0) found(new Error(`no ready endpoint of ${service}`), []);
    else
      found(
        null,
        inTurn.map((address) => ({ address, family: 4 })),
      );
  };
  const server = createServer((client) => {
    const target = connect({ host: service, port, lookup, autoSelectFamily: true });
    for (const socket of [client, target]) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    }
    pipeline(client, target, () => {});
    pipeline(target, client, () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await waitUntil(`a ready endpoint of ${service}`, async () => [...slices.values()].flat().length > 0);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      watching.stop();
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
