import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LookupAll } from './connect.ts';
import { receive, selfSigned } from './local-receivers.fixture.ts';
import type { LocalReceiver } from './local-receivers.fixture.ts';
import { createWebhookSender } from './send.ts';
import type { WebhookSender } from './send.ts';

const trusted = selfSigned('shop.example');
const untrusted = selfSigned('shop.example');

// The test adds an authority, as an operator does with NODE_EXTRA_CA_CERTS.
const authorities = tls.getCACertificates('default');
beforeAll(() => tls.setDefaultCACertificates([...authorities, trusted.cert]));
afterAll(() => tls.setDefaultCACertificates(authorities));

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanUp.splice(0).toReversed()) await close();
});

/** In these tests 127.0.0.1 stands for the public internet and 127.0.0.2 for a private network. */
function sender(lookup: LookupAll, allowCidrs: readonly string[] = ['127.0.0.1/32'], timeoutMs = 5000): WebhookSender {
  const made = createWebhookSender({
    policyOf: (mode) => ({ mode, production: mode === 'live', allowCidrs }),
    now: () => performance.now(),
    lookup,
    timeoutMs,
  });
  cleanUp.push(() => made.close(0));
  return made;
}

async function receiver(starting: Promise<LocalReceiver>): Promise<LocalReceiver> {
  const started = await starting;
  cleanUp.push(started.close);
  return started;
}

/** A name server that answers each question with the next list of addresses and stays with the last. */
function names(...answers: readonly (readonly string[])[]): LookupAll & { readonly asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupAll = (hostname, _options, callback) => {
    asked.push(hostname);
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? [];
    queueMicrotask(() =>
      callback(
        null,
        answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
  return Object.assign(lookup, { asked });
}

const live = (url: string) => ({ url, mode: 'live', headers: {}, body: '{}' }) as const;
const test = (url: string) => ({ url, mode: 'test', headers: {}, body: '{}' }) as const;

describe('a name', () => {
  it('that resolves to allowed addresses is connected to over verified TLS', async () => {
    const shop = await receiver(receive((response) => response.end('ok'), { tls: trusted }));
    const result = await sender(names(['127.0.0.1'])).send(live(`https://shop.example:${shop.port}/`));
    expect(result).toMatchObject({ kind: 'response', status: 200, responseBody: 'ok' });
    expect(shop.requests[0]?.headers.host).toBe(`shop.example:${shop.port}`);
  });

  it.each([
    ['10.0.0.5'],
    ['169.254.169.254'],
    ['127.0.0.2'],
    ['::1'],
    ['::ffff:10.0.0.1'],
    ['::ffff:127.0.0.2'],
    ['64:ff9b::a00:1'],
    ['fe80::1%lo'],
    ['0.0.0.0'],
  ])('that resolves to %s is refused before anything is connected', async (address) => {
    const inside = await receiver(receive((response) => response.end(), { tls: trusted, host: '127.0.0.2' }));
    const result = await sender(names([address])).send(live(`https://shop.example:${inside.port}/`));
    expect(result).toMatchObject({
      kind: 'error',
      stage: 'guard',
      message: { code: 'webhook_resolves', values: { host: 'shop.example', ip: address } },
    });
    expect(inside.connectionCount()).toBe(0);
  });

  it('is refused when any one of its addresses is, wherever that stands', async () => {
    const shop = await receiver(receive((response) => response.end(), { tls: trusted }));
    for (const addresses of [
      ['127.0.0.1', '10.0.0.1'],
      ['10.0.0.1', '127.0.0.1'],
    ]) {
      const result = await sender(names(addresses)).send(live(`https://shop.example:${shop.port}/`));
      expect(result).toMatchObject({ kind: 'error', stage: 'guard' });
    }
    expect(shop.connectionCount()).toBe(0);
  });

  it('that changes its address after the check (DNS rebinding) is connected to at the checked one', async () => {
    const shop = await receiver(
      receive((response) => response.setHeader('connection', 'close').end('outside'), { tls: trusted }),
    );
    const inside = await receiver(
      receive((response) => response.end('inside'), { tls: trusted, host: '127.0.0.2', port: shop.port }),
    );
    const lookup = names(['127.0.0.1'], ['127.0.0.2']);
    const sending = sender(lookup);
    const url = `https://shop.example:${shop.port}/`;
    expect(await sending.send(live(url))).toMatchObject({ kind: 'response', responseBody: 'outside' });
    expect(lookup.asked).toEqual(['shop.example']);
    expect(await sending.send(live(url))).toMatchObject({ kind: 'error', stage: 'guard' });
    expect(inside.connectionCount()).toBe(0);
  });

  it('is judged again by the address that the socket really has, before a byte of the request is written', async () => {
    const shop = await receiver(receive((response) => response.end()));
    const allowCidrs = ['127.0.0.1/32'];
    const resolve = names(['127.0.0.1']);
    const result = await sender((hostname, options, callback) => {
      resolve(hostname, options, (error, addresses) => {
        callback(error, addresses);
        // From here on nothing is allowed any more, as if the socket had come out somewhere else.
        allowCidrs.length = 0;
      });
    }, allowCidrs).send(live(`https://shop.example:${shop.port}/`));
    expect(result).toMatchObject({
      kind: 'error',
      stage: 'guard',
      message: { code: 'range_loopback', values: { ip: '127.0.0.1' } },
    });
    await shop.allClosed();
    expect(shop.requests).toHaveLength(0);
  });

  it('that does not exist, or has no addresses, is an error of stage resolve', async () => {
    const missing: LookupAll = (_hostname, _options, callback) =>
      callback(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), []);
    expect(await sender(missing).send(live('https://nobody.example/'))).toMatchObject({
      kind: 'error',
      stage: 'resolve',
      message: 'The name nobody.example could not be resolved (ENOTFOUND).',
    });
    expect(await sender(names([])).send(live('https://nobody.example/'))).toMatchObject({ stage: 'resolve' });
  });

  it('is looked up once for all deliveries that wait for it at the same time', async () => {
    const shop = await receiver(receive((response) => response.end()));
    const lookup = names(['127.0.0.1']);
    const sending = sender(lookup);
    const url = `http://shop.example:${shop.port}/`;
    const results = await Promise.all(Array.from({ length: 20 }, () => sending.send(test(url))));
    expect(results.every((result) => result.kind === 'response')).toBe(true);
    expect(lookup.asked).toEqual(['shop.example']);
  });

  it('is reached at the next of its addresses when the first refuses', async () => {
    const shop = await receiver(receive((response) => response.end(), { host: '127.0.0.2' }));
    const result = await sender(names(['127.0.0.1', '127.0.0.2'])).send(test(`http://shop.example:${shop.port}/`));
    expect(result).toMatchObject({ kind: 'response', status: 200 });
  });

  it('none of whose addresses answers is an error that gives each reason', async () => {
    const shop = await receiver(receive(() => {}));
    await shop.close();
    const url = `http://shop.example:${shop.port}/`;
    expect(await sender(names(['127.0.0.1', '127.0.0.2'])).send(test(url))).toMatchObject({
      stage: 'connect',
      message: expect.stringMatching(/ECONNREFUSED 127\.0\.0\.1.*ECONNREFUSED 127\.0\.0\.2/),
    });
  });

  it('over plain http must lie in the listed ranges for test mode in production', async () => {
    const shop = await receiver(receive((response) => response.end()));
    const strict = (...answers: string[][]): WebhookSender => {
      const made = createWebhookSender({
        policyOf: (mode) => ({ mode, production: true, allowCidrs: ['127.0.0.1/32'] }),
        now: () => performance.now(),
        lookup: names(...answers),
      });
      cleanUp.push(() => made.close(0));
      return made;
    };
    const url = `http://shop.example:${shop.port}/`;
    expect(await strict(['127.0.0.1']).send(test(url))).toMatchObject({ kind: 'response' });
    expect(await strict(['8.8.8.8']).send(test(url))).toMatchObject({ kind: 'error', stage: 'guard' });
  });
});

describe('a literal address', () => {
  it.each(['https://127.0.0.2/', 'https://[::1]/', 'https://[::ffff:10.0.0.1]/', 'https://2130706434/'])(
    '(%s) is refused without any look-up',
    async (url) => {
      const lookup = names(['127.0.0.1']);
      expect(await sender(lookup).send(live(url))).toMatchObject({ kind: 'error', stage: 'guard' });
      expect(lookup.asked).toEqual([]);
    },
  );
});

describe('a connection that test mode may use', () => {
  it('never serves live mode, even while it is open', async () => {
    const shop = await receiver(receive((response) => response.end(), { tls: trusted, host: '127.0.0.2' }));
    const sending = sender(names(['127.0.0.2']));
    const url = `https://shop.example:${shop.port}/`;
    expect(await sending.send(test(url))).toMatchObject({ kind: 'response' });
    await setImmediate();
    expect(await sending.send(live(url))).toMatchObject({ kind: 'error', stage: 'guard' });
    expect(await sending.send(test(url))).toMatchObject({ kind: 'response' });
    expect(shop.connectionCount()).toBe(1);
  });
});

describe('TLS', () => {
  it.each([
    ['that nobody vouches for', { tls: untrusted, name: 'shop.example' }],
    ['for another name', { tls: trusted, name: 'other.example' }],
  ])('with a certificate %s is an error of stage tls, and nothing is sent', async (_what, { tls, name }) => {
    const shop = await receiver(receive((response) => response.end(), { tls }));
    const result = await sender(names(['127.0.0.1'])).send(live(`https://${name}:${shop.port}/`));
    expect(result).toMatchObject({ kind: 'error', stage: 'tls', message: expect.stringContaining(name) });
    await shop.allClosed();
    expect(shop.requests).toHaveLength(0);
  });

  it('to a literal address is held against that address', async () => {
    const shop = await receiver(receive((response) => response.end(), { tls: trusted }));
    const result = await sender(names()).send(live(`https://127.0.0.1:${shop.port}/`));
    expect(result).toMatchObject({ stage: 'tls', message: expect.stringContaining('127.0.0.1') });
  });

  it('to a receiver that speaks plain http is an error of stage tls', async () => {
    const shop = await receiver(receive((response) => response.end()));
    const result = await sender(names(['127.0.0.1'])).send(live(`https://shop.example:${shop.port}/`));
    expect(result).toMatchObject({ kind: 'error', stage: 'tls' });
  });

  it('accepts a name with a final dot, which SNI must not carry (RFC 6066, 3)', async () => {
    const sni: unknown[] = [];
    const shop = await receiver(
      receive(
        (response) => {
          sni.push(response.socket instanceof tls.TLSSocket && response.socket.servername);
          response.end();
        },
        { tls: trusted },
      ),
    );
    const result = await sender(names(['127.0.0.1'])).send(live(`https://shop.example.:${shop.port}/`));
    expect(result).toMatchObject({ kind: 'response', status: 200 });
    expect(sni).toEqual(['shop.example']);
  });

  it('keeps its connection for the next delivery and replaces it once when it is lost', async () => {
    let requests = 0;
    const shop = await receiver(
      receive(
        (response) => {
          requests += 1;
          if (requests === 2) response.socket?.destroy();
          else response.end();
        },
        { tls: trusted },
      ),
    );
    const sending = sender(names(['127.0.0.1']));
    const url = `https://shop.example:${shop.port}/`;
    await sending.send(live(url));
    // undici takes a connection back for reuse in the turn of the event loop after the answer.
    await setImmediate();
    expect(await sending.send(live(url))).toMatchObject({ kind: 'response', status: 200 });
    expect(shop.connectionCount()).toBe(2);
    expect(shop.requests).toHaveLength(3);
  });
});
