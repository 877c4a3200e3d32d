import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { expectJourney } from '@echodrop/testkit/browser/journey';
import { test } from 'vitest';
import { NpmStart } from '../../deploy/local/npm-start.fixture.ts';

await describeWithBrowser('with npm start, a user', (browser) => {
  test('signs in, uploads, copies a link, deletes an upload and signs out, without entering credentials', async () => {
    await using npm = await NpmStart.prepare();
    npm.start();
    await npm.untilReady();
    await expectJourney(browser(), `http://127.0.0.1:${npm.portOf('site', 'PORT')}`);
  });
});
