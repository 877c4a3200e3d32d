import { setTimeout as sleep } from 'node:timers/promises';
import { ClientConnection } from './client-connection.ts';
import { queueOptionsFor } from './queue.fixture.ts';
import { QueueClient } from './queue-client.ts';
import { QueueWorker } from './queue-worker.ts';

// One end of a queue, or both, as a process of its own: queue-process.fixture.ts <what> <redis url> <queue>.
const [, , what = '', url = '', name = ''] = process.argv;
const connection = queueOptionsFor(url);
const serving = { name, concurrency: 1, graceSeconds: 0, ended: () => {} };

switch (what) {
  case 'take-and-hang':
    new QueueWorker<string, string>({ ...serving, answer: () => sleep(3_600_000, 'never') }, connection);
    break;
  case 'ask-and-leave': {
    await using _ = new QueueWorker<string, string>({ ...serving, answer: async (q) => q }, connection);
    await using asking = new ClientConnection(connection);
    await using asker = new QueueClient<string, string>(name, asking);
    process.stdout.write(await retried(() => asker.ask('asked', { deadlineMs: 5000 })));
    break;
  }
  case 'ask-in-vain': {
    await using asking = new ClientConnection(connection);
    await using asker = new QueueClient<string, string>(name, asking);
    process.stdout.write(await asker.ask('asked', { deadlineMs: 5000 }).catch(({ name: error }) => error));
    break;
  }
}

// Until the connection stands, a question is refused.
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 0; attempts < 50; attempts += 1) {
    try {
      return await attempt();
    } catch {
      await sleep(100);
    }
  }
  return attempt();
}
