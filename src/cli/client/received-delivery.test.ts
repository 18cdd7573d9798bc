import { describe, expect, it } from 'vitest';
import { signDelivery } from '../../webhooks/signature.ts';
import { readDelivery } from './received-delivery.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const NEWER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const BODY = Buffer.from('{"id":"evt_1","type":"order.created","sequence":1,"data":{"crypto_amount":0.00000001}}');
const SENT_AT = 1_781_524_800;

function signed(secrets: readonly string[]) {
  return { ...signDelivery({ secrets, id: 'evt_1', body: BODY, timestampSeconds: SENT_AT }) };
}

describe('a received delivery', () => {
  it('is verified by both signatures, within five minutes of its time', () => {
    const verified = { serviceSignature: 'verified', standardSignature: 'verified' };
    expect(readDelivery(signed([SECRET]), BODY, SECRET, SENT_AT + 300)).toMatchObject(verified);
    const stale = { serviceSignature: 'verified', standardSignature: 'stale' };
    expect(readDelivery(signed([SECRET]), BODY, SECRET, SENT_AT + 301)).toMatchObject(stale);
    expect(readDelivery(signed([SECRET]), BODY, SECRET, SENT_AT - 301)).toMatchObject(stale);
  });

  it('is wrong when a byte of the body or the secret is another one', () => {
    const wrong = { serviceSignature: 'wrong', standardSignature: 'wrong' };
    expect(readDelivery(signed([SECRET]), BODY, NEWER, SENT_AT)).toMatchObject(wrong);
    const changed = Buffer.concat([BODY, Buffer.from(' ')]);
    expect(readDelivery(signed([SECRET]), changed, SECRET, SENT_AT)).toMatchObject(wrong);
  });

  it('is verified with the older of two secrets by Standard Webhooks alone', () => {
    const during = readDelivery(signed([NEWER, SECRET]), BODY, SECRET, SENT_AT);
    expect(during).toMatchObject({ serviceSignature: 'wrong', standardSignature: 'verified' });
  });

  it('says which signature is missing or malformed, and what was not checked', () => {
    const missing = { serviceSignature: 'missing', standardSignature: 'missing' };
    expect(readDelivery({}, BODY, SECRET, SENT_AT)).toMatchObject(missing);
    const odd = { ...signed([SECRET]), 'webhook-timestamp': 'yesterday' };
    expect(readDelivery(odd, BODY, SECRET, SENT_AT)).toMatchObject({ standardSignature: 'wrong' });
    const unchecked = { serviceSignature: 'unchecked', standardSignature: 'unchecked' };
    expect(readDelivery(signed([SECRET]), BODY, null, SENT_AT)).toMatchObject(unchecked);
  });

  it('keeps amounts as they were written and reads nothing out of what is no event', () => {
    expect(readDelivery({}, BODY, null, SENT_AT).event).toMatchObject({
      type: 'order.created',
      cryptoAmount: '0.00000001',
    });
    for (const body of ['', '[]', 'null', '{"type":null,"data":[]}', '{'])
      expect(readDelivery({}, Buffer.from(body), null, SENT_AT).event).toMatchObject({ type: null, objectId: null });
  });
});
