import { createHmac, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { newWebhookSecret } from './secret.ts';
import { signDelivery, verifyServiceSignature } from './signature.ts';

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const OLD_SECRET = 'whsec_Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=';
const BODY = '{"id":"evt_1","type":"order.completed","data":{"note":"Grüße €"}}';
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

describe('x-service-signature', () => {
  it('is the lowercase hex HMAC-SHA256 of the raw body under the whole text of the newest secret', () => {
    const headers = signDelivery({ secrets: [SECRET, OLD_SECRET], id: 'evt_1', body: BODY, timestampSeconds: 1 });
    const expected = createHmac('sha256', Buffer.from(SECRET, 'utf8')).update(Buffer.from(BODY, 'utf8')).digest('hex');
    expect(headers['x-service-signature']).toBe(expected);
  });

  it('stays what it was for a fixed secret, body and time', () => {
    expect(signDelivery({ secrets: [SECRET], id: 'evt_1', body: BODY, timestampSeconds: 1_700_000_000 })).toEqual({
      'x-service-signature': '5f4f4bbe0aae0958bf939632fd51212dfe6222e8876a41f1dcf4155830a8b1b9',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': 'v1,78/yo4HWl1JTZAwNPfE+jc9yFZlFa3fL4Mke/ONZLd0=',
    });
  });

  it('is the same for a text and for its bytes', () => {
    const text = signDelivery({ secrets: [SECRET], id: 'evt_1', body: BODY, timestampSeconds: 1 });
    const bytes = signDelivery({ secrets: [SECRET], id: 'evt_1', body: Buffer.from(BODY), timestampSeconds: 1 });
    expect(bytes).toEqual(text);
  });

  it('verifies for its own secret and body, and for nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (body, other) => {
        const header = signDelivery({ secrets: [SECRET], id: 'e', body, timestampSeconds: 1 })['x-service-signature'];
        expect(verifyServiceSignature(SECRET, body, header)).toBe(true);
        expect(verifyServiceSignature(OLD_SECRET, body, header)).toBe(false);
        expect(verifyServiceSignature(SECRET, body, other)).toBe(false);
        expect(verifyServiceSignature(SECRET, other, header)).toBe(other === body);
      }),
    );
  });

  it('refuses upper case, cut and lengthened signatures, and bytes that only look as long', () => {
    const header = createHmac('sha256', SECRET).update(BODY).digest('hex');
    for (const wrong of [header.toUpperCase(), header.slice(1), `${header}0`, '', 'é'.repeat(64), 'é'.repeat(32)]) {
      expect(verifyServiceSignature(SECRET, BODY, wrong)).toBe(false);
    }
  });
});

describe('the Standard Webhooks headers', () => {
  it('verify with the public standardwebhooks package', () => {
    const secret = newWebhookSecret(randomBytes);
    const headers = signDelivery({ secrets: [secret], id: 'evt_1', body: BODY, timestampSeconds: nowSeconds() });
    expect(new Webhook(secret).verify(BODY, { ...headers })).toEqual(JSON.parse(BODY));
    expect(() => new Webhook(secret).verify(`${BODY} `, { ...headers })).toThrow('No matching signature found');
  });

  it('verify during a rotation for a receiver that holds only the old secret, and for one that holds only the new', () => {
    const [newest, previous] = [newWebhookSecret(randomBytes), newWebhookSecret(randomBytes)];
    const rotating = signDelivery({
      secrets: [newest, previous],
      id: 'evt_1',
      body: BODY,
      timestampSeconds: nowSeconds(),
    });
    expect(new Webhook(previous).verify(BODY, { ...rotating })).toEqual(JSON.parse(BODY));
    expect(new Webhook(newest).verify(BODY, { ...rotating })).toEqual(JSON.parse(BODY));
    expect(verifyServiceSignature(newest, BODY, rotating['x-service-signature'])).toBe(true);

    const rotated = signDelivery({ secrets: [newest], id: 'evt_1', body: BODY, timestampSeconds: nowSeconds() });
    expect(() => new Webhook(previous).verify(BODY, { ...rotated })).toThrow('No matching signature found');
  });

  it('bind the id and the time, so that a delivery cannot be replayed under others', () => {
    const headers = signDelivery({ secrets: [SECRET], id: 'evt_1', body: BODY, timestampSeconds: nowSeconds() });
    const later = String(nowSeconds() + 60);
    expect(() => new Webhook(SECRET).verify(BODY, { ...headers, 'webhook-id': 'evt_2' })).toThrow(/No matching/);
    expect(() => new Webhook(SECRET).verify(BODY, { ...headers, 'webhook-timestamp': later })).toThrow(/No matching/);
  });
});

describe('signing', () => {
  it('refuses what cannot be signed, without showing a secret', () => {
    const delivery = { id: 'evt_1', body: BODY, timestampSeconds: 1 };
    expect(() => signDelivery({ ...delivery, secrets: [] })).toThrow('at least one secret');
    for (const secret of ['hunter2', 'whsec_', `x${SECRET}`]) {
      expect(() => signDelivery({ ...delivery, secrets: [secret] })).toThrow(
        new TypeError('a webhook secret must be whsec_ and base64'),
      );
    }
    expect(() => signDelivery({ ...delivery, secrets: [SECRET], timestampSeconds: 1.5 })).toThrow('whole number');
  });
});
