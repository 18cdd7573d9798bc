import { describe, expect, it } from 'vitest';
import { signDelivery } from '../../webhooks/signature.ts';
import { requestIn, verdict } from './verify.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const NOW = 1_795_000_000;
const BODY = '{"id":"evt_1","type":"order.completed","data":{"amount":0.00000001,"note":"50 % off – ü"}}';

/** A request as a server receives it, with changes that something made on its way. */
function received(changes: {
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string;
  readonly secrets?: readonly string[];
  readonly at?: number;
  readonly lineEnd?: string;
}): Buffer<ArrayBuffer> {
  const { headers = {}, body = BODY, secrets = [SECRET], at = NOW, lineEnd = '\r\n' } = changes;
  const signed = signDelivery({ secrets, id: 'evt_1', body: BODY, timestampSeconds: at });
  const all = { 'Content-Type': 'application/json', ...signed, ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  return Buffer.from(['POST /webhooks HTTP/1.1', ...lines, '', body].join(lineEnd));
}

function check(bytes: Buffer<ArrayBuffer>, secret = SECRET) {
  const { service, standard, hints } = verdict(requestIn(bytes), secret, NOW);
  return { service, standard, hint: hints.join(' ') };
}

describe('a request', () => {
  it.each(['\r\n', '\n'])('that came unchanged is verified, whatever ends its lines: %j', (lineEnd) => {
    expect(check(received({ lineEnd }))).toEqual({ service: 'verified', standard: 'verified', hint: '' });
  });

  it.each<[string, Parameters<typeof received>[0], object]>([
    [
      'whose body was written anew',
      { body: JSON.stringify(JSON.parse(BODY.replace('0.00000001', '"x"')), null, 2).replace('"x"', '0.00000001') },
      { service: 'wrong', standard: 'wrong', hint: expect.stringContaining('written anew') },
    ],
    ['with a line end', { body: `${BODY}\n` }, { service: 'wrong', hint: expect.stringContaining('a line end') }],
    [
      'whose value was changed',
      { body: BODY.replace('completed', 'failed') },
      { service: 'wrong', standard: 'wrong', hint: expect.stringContaining('the body was changed') },
    ],
    [
      'from another time',
      { at: NOW - 3_600 },
      { service: 'verified', standard: 'stale', hint: expect.stringContaining('3600 seconds old') },
    ],
    ['of a wrong clock', { at: NOW + 900 }, { standard: 'stale', hint: expect.stringContaining('in the future') }],
    [
      'without a header',
      { headers: { 'webhook-id': null, 'x-service-signature': null } },
      {
        service: 'missing',
        standard: 'missing',
        hint: expect.stringContaining('lacks x-service-signature, webhook-id'),
      },
    ],
    [
      'that was cut off',
      { headers: { 'content-length': String(BODY.length) }, body: BODY.slice(0, 40) },
      { service: 'wrong', hint: expect.stringContaining('it was cut off') },
    ],
    [
      'whose webhook-timestamp was changed',
      { headers: { 'webhook-timestamp': String(NOW - 1) } },
      { service: 'verified', standard: 'wrong', hint: expect.stringMatching(/^The secret and the body are right/) },
    ],
    [
      'whose x-service-signature was changed',
      { headers: { 'x-service-signature': '0'.repeat(64) } },
      { service: 'wrong', standard: 'verified', hint: expect.stringContaining('x-service-signature was changed') },
    ],
    [
      'with another form of signature',
      { headers: { 'x-service-signature': 'sha256=abc' } },
      { service: 'wrong', standard: 'verified', hint: expect.stringContaining('64 lowercase hex digits') },
    ],
  ])('%s is not, and the reason is named', (_, changes, expected) => {
    expect(check(received(changes))).toMatchObject(expected);
  });

  it('that is checked with the secret before a rotation, or with another one, says so', () => {
    const rotating = received({ secrets: [SECRET, OLD_SECRET] });
    expect(check(rotating, OLD_SECRET)).toMatchObject({
      service: 'wrong',
      standard: 'verified',
      hint: expect.stringContaining('before the last rotation'),
    });
    expect(check(received({}), OLD_SECRET).hint).toContain('another endpoint or mode');
  });

  it.each(['', 'POST / HTTP/1.1\r\nwebhook-id: evt_1', '{"id":"evt_1"}'])('without a body is refused: %j', (text) => {
    expect(() => requestIn(Buffer.from(text))).toThrow('an empty line and the body must follow');
  });
});
