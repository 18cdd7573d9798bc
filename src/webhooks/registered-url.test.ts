import * as fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { checkNewWebhookUrl, type WebhookPolicy } from './guard.ts';
import { createWebhookSender } from './send.ts';

const LIVE: WebhookPolicy = { mode: 'live', production: true, allowCidrs: [] };
const PIECES = [
  ...['shop.example', 'evil.example', 'bücher.example', '@', ':', '\\', '/', '?', '#', '.', '-', '%40', '%2e', '443'],
  ...['xn--', 'ß', '①', 'user:pass@', '\u200d', '\u00ad', 'hooks', '8.8.8.8', '[2606:4700::1]'],
];
const candidate = fc
  .tuple(
    fc.constantFrom('https://', 'https:', 'HTTPS://'),
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 }),
  )
  .map(([start, pieces]) => start + pieces.join(''));

it('a webhook whose URL was registered goes to the host that was judged, whatever the URL is', async () => {
  const asked: string[] = [];
  const sender = createWebhookSender({
    policyOf: () => LIVE,
    now: () => performance.now(),
    timeoutMs: 2_000,
    // Nobody is reached: whom it would have been sent to is the name that is looked up.
    lookup: (hostname, _options, callback) => {
      asked.push(hostname);
      callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
    },
  });
  onTestFinished(() => sender.close(0));
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(candidate, async (text) => {
      const checked = checkNewWebhookUrl(text, LIVE);
      if (checked.kind === 'refused') return;
      const { hostname, href } = checked.url;
      expect(new URL(text).hostname).toBe(hostname);
      // An address is not looked up, and nobody's is to be called here.
      if (/^[\d.]+$|^\[/.test(hostname)) return;
      asked.length = 0;
      const result = await sender.send({ url: href, mode: 'live', headers: {}, body: '{}' });
      expect({ text, stage: result.kind === 'error' ? result.stage : result.kind, asked }).toEqual({
        text,
        stage: 'resolve',
        asked: [hostname],
      });
      sent += 1;
    }),
    { numRuns: 1_500 },
  );
  expect(sent).toBeGreaterThan(20);
});
