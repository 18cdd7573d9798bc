import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  type Event,
  InvalidRequestError,
  signedRequest,
  type UnknownEvent,
  verifyWebhook,
  WebhookError,
} from '../../packages/sdk/src/index.ts';
import { signDelivery } from '../../src/webhooks/signature.ts';

const SECRET = `whsec_${Buffer.from('the secret of this endpoint 1234').toString('base64')}`;
const FORMER = `whsec_${Buffer.from('the secret before the rotation 1').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('the secret of another endpoint 1').toString('base64')}`;
const BODY =
  '{"id":"evt_01kadfw4t3f7vb8y2z6m5n9qrs","type":"order.completed","created_at":"2026-01-31T12:00:00.000Z","sequence":3,"data":{"object":"order","amount":25.00,"crypto_amount":0.00041667,"metadata":{"order_id":"Käse \\"1\\""}}}';
const now = (): number => Math.floor(Date.now() / 1_000);

/** A delivery as the service signs and sends it. */
function delivery(body = BODY, secrets: readonly string[] = [SECRET], timestampSeconds = now()) {
  const signed = signDelivery({ secrets, id: 'evt_01kadfw4t3f7vb8y2z6m5n9qrs', body, timestampSeconds });
  return { body, headers: { ...signed, 'content-length': String(Buffer.byteLength(body)) } };
}

const without = (headers: object, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

const refusal = (verifying: Promise<unknown>): Promise<unknown> =>
  verifying.then(
    () => 'accepted',
    (error: unknown) => error,
  );

/** Every event is narrowed by its type, and one of a later version stays usable. */
function narrowed(event: Event): string {
  switch (event.type) {
    case 'order.completed':
      return `${event.data.metadata.order_id} ${event.data.crypto_amount_text}`;
    case 'refund.completed':
      return event.data.crypto_amount_text;
    case 'payment_request.paid':
    case 'payment_request.part':
    case 'payment_request.closed':
    case 'invoice.created':
    case 'invoice.confirming':
    case 'invoice.completed':
    case 'invoice.expired':
    case 'invoice.failed':
    case 'invoice.cancelled':
    case 'invoice.exception':
    case 'order.created':
    case 'order.confirming':
    case 'order.expired':
    case 'order.failed':
    case 'order.cancelled':
    case 'order.exception':
    case 'refund.created':
    case 'refund.failed':
    case 'refund.reorged':
    case 'payment.wrong_asset':
    case 'payment.lost':
      return event.id;
    default: {
      const later: UnknownEvent = event;
      return `${later.type} ${String(later.data['state'])}`;
    }
  }
}

describe('a delivery is accepted', () => {
  it('with both signatures, and with either of them if it may lack a time, as bytes, text or a request', async () => {
    const { body, headers } = delivery();
    const standard = without(headers, 'x-service-signature');
    const service = { 'X-Service-Signature': headers['x-service-signature'] };
    const given = [
      { body, headers },
      { body: Buffer.from(body), headers: standard },
      { body: new TextEncoder().encode(body).buffer, headers: new Headers(service) },
      { body, headers: service },
      new Request('https://shop.example', { method: 'POST', body, headers }),
    ];
    const events = await Promise.all(given.map((one) => verifyWebhook(one, SECRET, { allowUntimed: true })));
    expect(events.map(narrowed)).toEqual(given.map(() => 'Käse "1" 0.00041667'));
    expect(events[0]).toMatchObject({ data: { amount: 25, amount_text: '25.00' } });
  });

  it('during a rotation, with the new secret, the former one, or both', async () => {
    const rotating = delivery(BODY, [SECRET, FORMER]);
    for (const secrets of [SECRET, FORMER, [OTHER, FORMER], [SECRET, FORMER]]) {
      expect(narrowed(await verifyWebhook(rotating, secrets))).toMatch('0.00041667');
    }
    expect(narrowed(await verifyWebhook(delivery(BODY, [FORMER]), [SECRET, FORMER]))).toMatch('0.00041667');
  });

  it('with a type of a later version, which stays usable', async () => {
    const later = delivery('{"id":"evt_1","type":"payout.sent","created_at":"","data":{"state":"sent"}}');
    expect(narrowed(await verifyWebhook(later, SECRET))).toBe('payout.sent sent');
  });
});

describe('a delivery is refused', () => {
  const { body, headers } = delivery();
  it('in a time that grows with its length, whatever it is', async () => {
    const escapes = { body: `"${'\\"'.repeat(500_000)}`, headers: without(headers, 'content-length') };
    const startedAt = performance.now();
    await expect(verifyWebhook(escapes, SECRET)).rejects.toMatchObject({ reason: 'cut' });
    // A quadratic search takes a quarter of an hour.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
  });

  it.each([
    ['headers_missing', { body, headers: {} }, /lacks webhook-id.*proxy/],
    ['headers_missing', { body, headers: without(headers, 'webhook-id', 'x-service-signature') }, /lacks/],
    ['wrong_secret', delivery(BODY, [OTHER]), /another endpoint or mode/],
    ['headers_missing', { body, headers: without(headers, 'webhook-timestamp') }, /lacks/],
    ['headers_missing', { body, headers: { 'x-service-signature': headers['x-service-signature'] } }, /lacks/],
    ['wrong_secret', { body: body.replace('25.00', '24.00'), headers }, /the body was changed/],
    [
      'body_rewritten',
      {
        body: JSON.stringify(JSON.parse(body), null, 2).replace('25', '25.00'),
        headers: without(headers, 'content-length'),
      },
      /written anew/,
    ],
    ['body_rewritten', { body: `${body}\n`, headers: without(headers, 'content-length') }, /written anew/],
    ['body_parsed', { body: JSON.parse(body) as string, headers }, /express\.raw/],
    ['body_parsed', { body: undefined as unknown as string, headers }, /raw text or bytes/],
    ['cut', { body: body.slice(0, 100), headers }, /100 bytes, but Content-Length is/],
    ['cut', { body: body.slice(0, 100), headers: without(headers, 'content-length') }, /not complete JSON/],
    ['stale', delivery(BODY, [SECRET], now() - 601), /60\d seconds old, and at most 300/],
    ['stale', delivery(BODY, [SECRET], now() + 600), /(?:5[89]\d|600) seconds in the future/],
    ['not_an_event', delivery('no JSON'), /not an event/],
  ])('as %s', async (reason, given, message) => {
    const error = await refusal(verifyWebhook(given, SECRET));
    expect(error).toBeInstanceOf(WebhookError);
    expect(error).toMatchObject({ reason, message: expect.stringMatching(message) });
    expect(String(error)).not.toContain(SECRET.slice(6));
  });

  it('as read before, if a parser took the body of the request', async () => {
    const request = new Request('https://shop.example', { method: 'POST', body, headers });
    await request.json();
    expect(await refusal(verifyWebhook(request, SECRET))).toMatchObject({ reason: 'body_parsed' });
  });

  it.each([
    ['', /secret is missing/],
    [[], /secret is missing/],
    [undefined as unknown as string, /secret is missing/],
    [`${SECRET}\n`, /line end/],
    [`sk_test_${'a'.repeat(38)}`, /API key does not verify/],
  ])('with a secret that cannot be one, before anything is read', async (secret, message) => {
    const error = await refusal(verifyWebhook({ body, headers }, secret));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ field: 'secret', message: expect.stringMatching(message) });
  });
});

describe('a request that the SDK signs for tests', () => {
  it('passes its own check and a stock verifier, with the given fields and the sample for the others', async () => {
    const request = await signedRequest({
      type: 'order.completed',
      secret: [SECRET, FORMER],
      data: { amount: '19.90' },
    });
    const text = await request.clone().text();
    expect(new Webhook(FORMER).verify(text, Object.fromEntries(request.headers))).toMatchObject({
      type: 'order.completed',
    });
    expect(await verifyWebhook(request, SECRET)).toMatchObject({ data: { amount_text: '19.90', currency: 'USD' } });
  });

  it('is too old if its test wants that', async () => {
    const request = await signedRequest({
      type: 'refund.failed',
      secret: SECRET,
      sentAt: new Date(Date.now() - 600_000),
    });
    expect(await refusal(verifyWebhook(request, SECRET))).toMatchObject({ reason: 'stale' });
  });
});
