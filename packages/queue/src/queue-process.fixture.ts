import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { ClientConnection } from './client-connection.ts';
import { queueOptionsFor } from './queue.fixture.ts';
import { QueueClient } from './queue-client.ts';
import { QueueWorker } from './queue-worker.ts';

// A client or a worker as a process of its own: queue-process.fixture.ts <what> <redis url> <queue>.
const [, , what = '', url = '', name = ''] = process.argv;
const connection = queueOptionsFor(url);
const options = { name, concurrency: 1, graceSeconds: 0, onEnd: () => {} };

switch (what) {
  case 'take-and-hang':
    new QueueWorker<string, string>({ ...options, handle: () => sleep(3_600_000, 'never') }, connection);
    break;
  case 'request-and-exit': {
    await using _ = new QueueWorker<string, string>({ ...options, handle: async (q) => q }, connection);
    await using clientConnection = new ClientConnection(connection);
    await using client = new QueueClient<string, string>(name, clientConnection);
    await waitUntil('a connection', () => client.ready().then(() => true));
    process.stdout.write(await client.request('echo', { deadlineMs: patienceMs }));
    break;
  }
  case 'request-without-redis': {
    await using clientConnection = new ClientConnection(connection);
    await using client = new QueueClient<string, string>(name, clientConnection);
    process.stdout.write(await client.request('echo', { deadlineMs: patienceMs }).catch(({ name: error }) => error));
    break;
  }
}
