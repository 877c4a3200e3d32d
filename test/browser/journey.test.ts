import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { expectJourney } from '@echodrop/testkit/browser/journey';
import { execa } from 'execa';
import { test } from 'vitest';
import { NpmStart, root } from '../../deploy/local/npm-start.fixture.ts';

await describeWithBrowser('with npm start, a user', (browser) => {
  test('signs in, uploads, sees what came from the command line, deletes an upload and signs out, without entering credentials', async () => {
    await using npm = await NpmStart.prepare();
    npm.start();
    await npm.untilReady();
    const command = ['run', 'upload', '--', 'deploy/sample.jpg', '--message', 'At the sea'];
    await execa('npm', command, { cwd: root, env: npm.settings });
    await expectJourney(browser(), `http://127.0.0.1:${npm.portOf('site', 'PORT')}`, [
      'Hello from Echodrop',
      'At the sea',
    ]);
  });
});
