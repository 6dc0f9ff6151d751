// npm run docs:picture: takes the picture of the page that README.md shows, from the demo data.
import { runCommand } from '../../tools/command.ts';
import { DEMO, loadDemoData } from '../../tools/demo-data.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startStack } from '../support/stack.ts';

const PICTURE = 'docs/page.png';

await runCommand(async () => {
  await using stack = new AsyncDisposableStack();
  const service = await startStack();
  stack.defer(() => service.stop());
  const { databaseUrl, origin } = service.address;
  await loadDemoData(databaseUrl);
  const { key } = await issueKey(databaseUrl, { email: DEMO.email, name: 'picture' });

  const browser = stack.use(await launchChromium(await findChromium()));
  const page = await browser.newPage({
    viewport: { width: 1280, height: 1000 },
    timezoneId: 'Africa/Nairobi',
  });
  await page.goto(`${origin}/?survey=${encodeURIComponent(DEMO.survey)}`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Show my surveys' }).click();
  await page.mouse.move(0, 0);
  await page.locator('.card .bars').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: PICTURE });
  process.stdout.write(`${PICTURE}\n`);
});
