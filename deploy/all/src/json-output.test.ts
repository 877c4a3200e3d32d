import { expect, test, vi } from 'vitest';
import { jsonOutput } from './json-output.ts';

test('every line is JSON: that of a service as it is, plain text with its source', () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const log = jsonOutput.openLog('redis', false);
  const line = '{"level":"info","service":"gateway","msg":"Ready"}';
  log.write(line, 'stdout');
  log.write('# Ready\u001b[2J', 'stdout');
  log.write('{ not JSON', 'stderr');
  log.write('', 'stdout');
  jsonOutput.say('echodrop', 'ready');
  const lines = written.mock.calls.map(([text]) => `${text}`);
  expect(lines[0]).toBe(`${line}\n`);
  expect(lines.join('')).not.toContain('\u001b');
  const fields = lines.map((each) => JSON.parse(each)).map(({ level, service, msg }) => [level, service, msg]);
  expect(fields).toEqual([
    ['info', 'gateway', 'Ready'],
    ['info', 'redis', '# Ready\u001b[2J'],
    ['warn', 'redis', '{ not JSON'],
    ['info', 'echodrop', 'ready'],
  ]);
});
