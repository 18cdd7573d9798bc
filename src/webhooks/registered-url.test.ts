import { domainToUnicode } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { urlAmbiguity } from '../domain/web-url.ts';
import { checkNewWebhookUrl, type WebhookPolicy } from './guard.ts';
import { createWebhookSender } from './send.ts';

const LIVE: WebhookPolicy = { mode: 'live', production: true, allowCidrs: [] };
/** Pieces that readers of URLs disagree about, among plain ones. */
const PIECES = [
  'https: http: // / \\ @ : # ? . - %40 %2F %2e %5C [::1] [2606:4700::1] 8.8.8.8 127.1 0x7f 443 user user:pass@ hooks',
  'shop.example evil.example bücher bücher.example xn-- xn--bcher-kva ß ﬁ ① ｅ 。 İ A é e\u0301 \u200d \u00ad',
]
  .flatMap((line) => line.split(' '))
  .concat(' ', '\t');
const candidate = fc
  .tuple(
    fc.constantFrom('https://', 'http://', 'https:', 'HTTPS://', ''),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }),
  )
  .map(([start, pieces]) => start + pieces.join(''));

/** The user information and host according to RFC 3986, appendix B, which knows no backslash and decodes nothing. */
function readByRfc(url: string): { readonly user: string | null; readonly host: string } {
  const authority = /^(?:[^:/?#]+:)?(?:\/\/([^/?#]*))?/.exec(url)?.[1] ?? '';
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1).replace(/:\d*$/, '');
  return { user: at < 0 ? null : authority.slice(0, at), host: host.toLowerCase() };
}

/** Whether each label is written as it is read, or is the international one that it is read from. */
function isSameName(written: string, read: string): boolean {
  if (written.startsWith('[')) return read.startsWith('[');
  const labels = read.split('.');
  const given = written.normalize('NFC').split('.');
  return (
    given.length === labels.length &&
    given.every((label, at) => [labels[at], domainToUnicode(labels[at] ?? '').normalize('NFC')].includes(label))
  );
}

describe('a URL', () => {
  it('that is taken has one host and no user, by RFC 3986 as by the WHATWG standard, whatever is in it', () => {
    let taken = 0;
    fc.assert(
      fc.property(candidate, (text) => {
        const url = URL.parse(text);
        fc.pre(url !== null && urlAmbiguity(text, url) === null && !/[\s\p{Cc}]/u.test(text));
        taken += 1;
        const { user, host } = readByRfc(text);
        expect({ text, user }).toEqual({ text, user: null });
        const read = url?.hostname ?? '';
        // Letter by letter, capitals aside, so that a reader who maps or decodes nothing finds the same name.
        expect({ text, isSame: isSameName(host, read) }).toEqual({ text, isSame: true });
        // And what is stored is read as what was judged.
        expect(new URL(url?.href ?? '').hostname).toBe(read);
      }),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(0);
  });
});

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
      if (checked.kind === 'invalid') return;
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
