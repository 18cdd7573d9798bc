import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalText } from '../app/rejected.ts';
import type { Invalid } from '../domain/sentence.ts';
import { addressRefusal, checkNewWebhookUrl, checkWebhookUrl, parseCidr } from './guard.ts';
import type { WebhookPolicy } from './guard.ts';

const LIVE: WebhookPolicy = { mode: 'live', production: false, allowCidrs: [] };
const TEST: WebhookPolicy = { mode: 'test', production: false, allowCidrs: [] };
const TEST_IN_PRODUCTION: WebhookPolicy = { mode: 'test', production: true, allowCidrs: [] };
const opened = (policy: WebhookPolicy, ...allowCidrs: string[]): WebhookPolicy => ({ ...policy, allowCidrs });

/** Addresses that are no public ones, by what they are called in the refusal. */
const NOT_PUBLIC: readonly (readonly [string, string])[] = [
  ['10.0.0.1', 'a private address'],
  ['172.16.0.1', 'a private address'],
  ['172.31.255.255', 'a private address'],
  ['192.168.1.1', 'a private address'],
  ['169.254.169.254', 'a link-local address'],
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['100.64.0.1', 'an internal address of a provider (carrier-grade NAT)'],
  ['224.0.0.1', 'a multicast address'],
  ['255.255.255.255', 'a broadcast address'],
  ['0.0.0.0', 'not the address of any machine'],
  ['0.1.2.3', 'not the address of any machine'],
  ['192.0.0.1', 'a reserved address'],
  ['192.0.2.1', 'a reserved address'],
  ['192.88.99.1', 'a reserved address'],
  ['198.18.0.1', 'a reserved address'],
  ['198.51.100.1', 'a reserved address'],
  ['203.0.113.1', 'a reserved address'],
  ['240.0.0.1', 'a reserved address'],
  // Public by the registries, a cloud's own services inside it.
  ['168.63.129.16', 'an internal address of a cloud provider'],
  ['::ffff:168.63.129.16', 'an internal address of a cloud provider'],
  ['161.26.0.10', 'an internal address of a cloud provider'],
  ['166.8.0.1', 'an internal address of a cloud provider'],
  ['166.11.255.255', 'an internal address of a cloud provider'],
  ['::', 'not the address of any machine'],
  ['::1', 'a loopback address'],
  ['fc00::1', 'a private address'],
  ['fd12:3456::1', 'a private address'],
  ['fec0::1', 'a private address'],
  ['fe80::1', 'a link-local address'],
  ['ff02::1', 'a multicast address'],
  ['2001:db8::1', 'a reserved address'],
  ['100::1', 'a reserved address'],
  ['4000::1', 'a reserved address'],
  // IPv4 inside IPv6: judged as the IPv4 when mapped, refused in every other wrapping.
  ['::ffff:10.0.0.1', 'a private address'],
  ['::ffff:a9fe:a9fe', 'a link-local address'],
  ['::ffff:7f00:1', 'a loopback address'],
  ['::127.0.0.1', 'a reserved address'],
  ['::8.8.8.8', 'a reserved address'],
  ['2002:a00:1::', 'an IPv6 address that stands in for an IPv4 address (6to4 or Teredo)'],
  ['2002:808:808::1', 'an IPv6 address that stands in for an IPv4 address (6to4 or Teredo)'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'an IPv6 address that stands in for an IPv4 address (6to4 or Teredo)'],
  ['64:ff9b::a00:1', 'an IPv6 address that stands in for an IPv4 address (NAT64)'],
  ['64:ff9b::808:808', 'an IPv6 address that stands in for an IPv4 address (NAT64)'],
  ['64:ff9b:1::1', 'an IPv6 address that stands in for an IPv4 address (NAT64)'],
  ['::ffff:0:a00:1', 'an IPv6 address that stands in for an IPv4 address (NAT64)'],
];

const NEVER_ALLOWED = new Set(['a multicast address', 'a broadcast address', 'not the address of any machine']);

const PUBLIC: readonly string[] = [
  '168.63.129.15',
  '168.63.129.17',
  '166.12.0.0',
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '2606:4700:4700::1111',
  '2a00:1450::1',
  '::ffff:8.8.8.8',
];

function textOf(check: { readonly kind: 'ok' } | Invalid): string {
  return check.kind === 'ok' ? '' : refusalText(check.fault);
}

describe('an address', () => {
  it.each(NOT_PUBLIC)('%s is refused in live mode as %s', (ip, name) => {
    const refusal = addressRefusal(ip, LIVE);
    expect(refusal && refusalText(refusal)).toBe(
      `Cointill sends webhooks only to public addresses, but ${ip} is ${name}. ${
        NEVER_ALLOWED.has(name)
          ? 'Give another address.'
          : 'To allow the address, add its range to WEBHOOK_ALLOW_CIDRS.'
      }`,
    );
    expect(addressRefusal(ip, TEST_IN_PRODUCTION)).not.toBeNull();
  });

  it.each(PUBLIC)('%s is public', (ip) => {
    expect(addressRefusal(ip, LIVE)).toBeNull();
    expect(addressRefusal(ip, TEST)).toBeNull();
  });

  it.each(NOT_PUBLIC)('%s (%s) is open to test mode outside production only when it is loopback', (ip, name) => {
    expect(addressRefusal(ip, TEST) === null).toBe(name === 'a loopback address');
  });

  it.each(['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '[::1]', 'fe80::1%eth0', '2606:4700::1%eth0'])(
    'that is not in its plain form (%j) is refused',
    (text) => {
      expect(addressRefusal(text, TEST)).toEqual({ code: 'webhook_no_ip', values: { ip: text } });
    },
  );

  it('wrapped as IPv4-mapped IPv6 is judged as its IPv4, whichever it is', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom(LIVE, TEST, opened(LIVE, '10.0.0.0/8')), (ip, policy) => {
        expect(addressRefusal(`::ffff:${ip}`, policy) === null).toBe(addressRefusal(ip, policy) === null);
      }),
    );
  });
});

describe('WEBHOOK_ALLOW_CIDRS', () => {
  it('opens its ranges, in both modes, and nothing beside them', () => {
    for (const policy of [LIVE, TEST, TEST_IN_PRODUCTION]) {
      const open = opened(policy, 'fd00::/8', '10.1.0.0/16', '169.254.169.254/32');
      expect(addressRefusal('10.1.255.255', open)).toBeNull();
      expect(addressRefusal('::ffff:10.1.2.3', open)).toBeNull();
      expect(addressRefusal('fd00::5', open)).toBeNull();
      expect(addressRefusal('169.254.169.254', open)).toBeNull();
      expect(addressRefusal('10.2.0.0', open)).not.toBeNull();
      expect(addressRefusal('fc00::5', open)).not.toBeNull();
    }
  });

  it('opens loopback to live mode where it says so', () => {
    expect(checkWebhookUrl('https://127.0.0.1/', opened(LIVE, '127.0.0.1/32')).kind).toBe('ok');
    expect(checkWebhookUrl('https://localhost/', opened(LIVE, '127.0.0.1/32')).kind).toBe('ok');
    expect(checkWebhookUrl('https://127.0.0.2/', opened(LIVE, '127.0.0.1/32')).kind).toBe('invalid');
  });

  it('never opens 0.0.0.0, multicast and broadcast, which would be this host or nobody', () => {
    const all = opened(TEST, '0.0.0.0/0', '::/0');
    for (const ip of ['0.0.0.0', '::', '224.0.0.1', 'ff02::1', '255.255.255.255']) {
      expect(addressRefusal(ip, all)).not.toBeNull();
    }
  });

  it('allows plain http inside its ranges for test mode in production, never for live mode', () => {
    const test = opened(TEST_IN_PRODUCTION, '10.0.0.0/8');
    expect(checkWebhookUrl('http://10.0.0.1/', test).kind).toBe('ok');
    expect(checkWebhookUrl('http://shop.internal/', test).kind).toBe('ok');
    expect(checkWebhookUrl('http://8.8.8.8/', test).kind).toBe('invalid');
    expect(addressRefusal('10.0.0.1', test, 'http:')).toBeNull();
    expect(addressRefusal('8.8.8.8', test, 'http:')).toMatchObject({ code: 'webhook_http' });
    expect(checkWebhookUrl('http://10.0.0.1/', opened(LIVE, '10.0.0.0/8')).kind).toBe('invalid');
    expect(checkWebhookUrl('https://10.0.0.1/', opened(LIVE, '10.0.0.0/8')).kind).toBe('ok');
  });

  it('that slipped past the configuration stops the program rather than opening anything', () => {
    expect(() => addressRefusal('10.0.0.1', opened(LIVE, 'nonsense'))).toThrow(/WEBHOOK_ALLOW_CIDRS/);
  });
});

describe('a webhook URL', () => {
  it('must be https to the public internet in live mode, and in test mode in production', () => {
    for (const policy of [LIVE, TEST_IN_PRODUCTION]) {
      expect(checkWebhookUrl('https://shop.example/hooks?shop=1', policy).kind).toBe('ok');
      expect(checkWebhookUrl('https://8.8.8.8:8443/', policy).kind).toBe('ok');
      expect(checkWebhookUrl('https://[2606:4700::1]/', policy).kind).toBe('ok');
      expect(checkWebhookUrl('http://shop.example/', policy)).toEqual({
        kind: 'invalid',
        fault: { code: 'url_https', values: {} },
      });
    }
  });

  it('may be http and on this machine in test mode', () => {
    for (const url of ['http://shop.example/', 'http://localhost:8080/x', 'http://127.0.0.1:1/', 'https://[::1]/']) {
      expect(checkWebhookUrl(url, TEST).kind).toBe('ok');
    }
    expect(checkWebhookUrl('http://10.0.0.1/', TEST).kind).toBe('invalid');
    expect(checkWebhookUrl('http://169.254.169.254/latest/meta-data/', TEST).kind).toBe('invalid');
  });

  it.each([
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0x7f000001/',
    'https://127.1/',
    'https://127.0.0.1./',
    'https://%31%32%37.0.0.1/',
    'https://①②⑦.0.0.1/',
    'https://127。0。0。1/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://shop.localhost/',
    'https://ⓛocalhost/',
    'https:\\\\127.0.0.1\\',
  ])('%s is this machine however it is spelt, and refused in live mode', (url) => {
    expect(textOf(checkWebhookUrl(url, LIVE))).toContain('only to public addresses');
  });

  it('is judged the same in decimal, octal and hexadecimal spelling', () => {
    fc.assert(
      fc.property(fc.nat({ max: 0xffff_ffff }), fc.constantFrom(LIVE, TEST), (value, policy) => {
        const dotted = [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
        const judged = checkWebhookUrl(`https://${dotted}/`, policy);
        for (const spelling of [`${value}`, `0${value.toString(8)}`, `0x${value.toString(16)}`]) {
          expect(checkWebhookUrl(`https://${spelling}/`, policy)).toEqual(judged);
        }
      }),
    );
  });

  it('comes back as what was judged, for storing', () => {
    const checked = checkWebhookUrl('http://2130706433:80/a b'.replace(' ', '%20'), TEST);
    expect(checked.kind === 'ok' && checked.url.href).toBe('http://127.0.0.1/a%20b');
  });

  it.each([
    ['', 'absolute URL'],
    ['shop.example/hooks', 'absolute URL'],
    ['/hooks', 'absolute URL'],
    ['ftp://shop.example/', 'absolute URL'],
    ['file:///etc/passwd', 'absolute URL'],
    ['javascript:alert(1)', 'absolute URL'],
    ['https://', 'absolute URL'],
    ['https://999.1.1.1/', 'absolute URL'],
    ['https://[fe80::1%25eth0]/', 'absolute URL'],
    ['https://[::1/', 'absolute URL'],
    ['https://shop.example:99999/', 'absolute URL'],
    ['https://shop.example:0/', 'port 0'],
    ['https://user@shop.example/', 'user name or password'],
    ['https://:secret@shop.example/', 'user name or password'],
    ['https://shop.example/#top', 'fragment'],
    ['https://shop.example/#', 'fragment'],
    ['https://shop.example/a b', 'spaces'],
    [' https://shop.example/', 'spaces'],
    ['https://shop.example/\r\nx-evil: 1', 'spaces or control'],
    ['https://shop.example/\0', 'spaces or control'],
    ['ht\ttps://shop.example/', 'spaces or control'],
    [`https://shop.example/${'a'.repeat(2028)}`, '2048 characters'],
    [`https://shop.example/${'é'.repeat(1000)}`, '2048 characters once'],
  ])('%j is refused: %s', (url, why) => {
    expect(textOf(checkWebhookUrl(url, TEST))).toContain(why);
  });

  it.each([
    ['https://shop.example\\@evil.example/', 'backslash'],
    ['https://shop.example/a\\b', 'backslash'],
    ['https://shop%2eexample/', 'host in plain letters'],
    ['https://@shop.example/', 'host in plain letters'],
    ['https:shop.example/', 'host in plain letters'],
    ['https://ⓢhop.example/', 'host in plain letters'],
    ['https://-a.example/', 'hyphen'],
    ['https://a-.example/', 'hyphen'],
  ])('%j is not registered: %s', (url, why) => {
    expect(textOf(checkNewWebhookUrl(url, TEST))).toContain(why);
  });

  it('is registered in plain form, with an international name or with an address in any spelling', () => {
    for (const url of [
      'https://Shop.example:8443/?a=%5C',
      'https://bücher.example/',
      'https://[0:0::1]/',
      'http://2130706433/',
    ]) {
      expect([url, checkNewWebhookUrl(url, TEST)]).toEqual([url, { kind: 'ok', url: new URL(url) }]);
    }
    expect(checkNewWebhookUrl('https://10.0.0.1/', TEST).kind).toBe('invalid');
  });

  it('may be 2048 characters long', () => {
    expect(checkWebhookUrl(`https://shop.example/${'a'.repeat(2027)}`, LIVE).kind).toBe('ok');
  });

  it('never throws, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', 'https://', 'https://shop.example/'),
        (text, start) => {
          expect(['ok', 'invalid']).toContain(checkWebhookUrl(start + text, LIVE).kind);
        },
      ),
    );
  });
});

describe('a CIDR range', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3/31', '10.1.2.2/31'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['192.168.1.7', '192.168.1.7/32'],
    ['fd00::1/8', 'fd00::/8'],
    ['2001:DB8::/33', '2001:db8::/33'],
    ['::1', '::1/128'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
  ])('%s is understood as %s', (text, canonical) => {
    expect(parseCidr(text)).toMatchObject({ kind: 'ok', cidr: { text: canonical } });
  });

  it.each([
    '',
    '/',
    '/8',
    'shop.example/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/8.0',
    '10.0.0.0/0x8',
    '10.0.0/8',
    '010.0.0.0/8',
    '10.0.0.0 /8',
    '::/129',
    'fe80::1%eth0/64',
    '[::1]/128',
    '::ffff:10.0.0.0/90',
  ])('%j is refused and named', (text) => {
    expect(textOf(parseCidr(text))).toContain(JSON.stringify(text));
  });
});
