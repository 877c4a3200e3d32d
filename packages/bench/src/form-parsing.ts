/**
 * What tidying a form costs: 512 MiB of media through busboy alone, and through tidy-form.ts and busboy, in turns.
 *
 *     node packages/bench/src/form-parsing.ts
 */
import { randomBytes } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { multipartForm } from '@echodrop/testkit/multipart-form';
import { multipartParser } from '../../../services/gateway/src/multipart.ts';
import { tidyForm } from '../../../services/gateway/src/tidy-form.ts';

const boundary = '------------------------ded7e4c7e121c066';
const chunk = randomBytes(64 * 1024);
const chunks = 8192;
const rounds = 5;

const { body } = multipartForm([{ name: 'media', filename: 'film.mp4', content: '' }], boundary);
const at = body.indexOf('\r\n\r\n') + 4;

async function* form(): AsyncGenerator<Buffer> {
  yield body.subarray(0, at);
  for (let i = 0; i < chunks; i++) yield chunk;
  yield body.subarray(at);
}

async function seconds(source: AsyncIterable<Buffer>): Promise<number> {
  const begin = performance.now();
  const parser = multipartParser(boundary, 2 ** 40, {
    field: () => {},
    media: (bytes) => bytes.resume(),
    tooLarge: () => {},
    fileInstead: () => {},
  });
  await pipeline(source, parser);
  return (performance.now() - begin) / 1000;
}

const alone: number[] = [];
const tidied: number[] = [];
for (let round = 0; round < rounds; round++) {
  alone.push(await seconds(form()));
  tidied.push(await seconds(tidyForm(form(), boundary, 'strict')));
}
const middle = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
const mibPerSecond = (time: number) => Math.round((chunks * chunk.length) / time / 1024 / 1024);
process.stdout.write(
  `busboy alone ${mibPerSecond(middle(alone))} MiB/s, tidied ${mibPerSecond(middle(tidied))} MiB/s: ` +
    `${(middle(tidied) / middle(alone)).toFixed(2)} times as long\n`,
);
