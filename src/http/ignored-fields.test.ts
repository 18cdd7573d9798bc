import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distance, nearestName } from '../domain/nearest-name.ts';
import { tryServer } from './frame.fixture.ts';

const FIELDS = ['amount', 'currency', 'crypto_currency', 'success_url', 'cancel_url', 'order_id', 'expires_in'];

describe('the field that was probably meant', () => {
  it.each([
    ['sucess_url', 'success_url'],
    ['successUrl', 'success_url'],
    ['Success-URL', 'success_url'],
    ['ammount', 'amount'],
    ['amuont', 'amount'],
    ['orderId', 'order_id'],
    ['expiresin', 'expires_in'],
    ['crypto-curency', 'crypto_currency'],
  ])('%s: %s', (name, meant) => {
    expect(nearestName(FIELDS, name)).toBe(meant);
  });

  it.each(['price', 'id', 'url', '', 'ä', '__proto__', 'constructor'])('none of %s', (name) => {
    expect(nearestName(FIELDS, name)).toBeNull();
    expect(nearestName(FIELDS, name + 'x'.repeat(60_000))).toBeNull();
  });

  it('is as near as it takes single edits, whatever they are', () => {
    const word = fc.stringMatching(/^[a-z]{0,12}$/);
    const edit = fc.record({
      kind: fc.constantFrom('put in', 'leave out', 'exchange', 'swap'),
      at: fc.nat(),
      letter: fc.constantFrom('a', 'b', 'z'),
    });
    fc.assert(
      fc.property(word, edit, word, (text, { kind, at, letter }, other) => {
        const place = at % (text.length + 1);
        const [head, tail] = [text.slice(0, place), text.slice(place)];
        const edited = {
          'put in': head + letter + tail,
          'leave out': head + tail.slice(1),
          exchange: tail === '' ? text : head + letter + tail.slice(1),
          swap: head + (tail[1] ?? '') + (tail[0] ?? '') + tail.slice(2),
        }[kind];
        expect(distance(text, edited)).toBe(edited === text ? 0 : 1);
        expect(distance(text, other)).toBe(distance(other, text));
        expect(distance(text, other)).toBeLessThanOrEqual(Math.max(text.length, other.length));
        expect(distance(text, other)).toBeGreaterThanOrEqual(Math.abs(text.length - other.length));
      }),
    );
  });
});

describe('X-Ignored-Fields', () => {
  const app = tryServer({}, { test: 10_000, live: 10_000, page: 10_000 });
  const answer = async (body: string) => {
    const headers = { authorization: 'Bearer sk_test', 'content-type': 'application/json' };
    const { statusCode, headers: got } = await app.inject({ method: 'POST', url: '/v1/orders', headers, body });
    return { status: statusCode, ignored: got['x-ignored-fields'] };
  };

  it('is not there where every field is known', async () => {
    expect(await answer('{"amount":1,"note":"x","metadata":{"colour":"red"}}')).toEqual({
      status: 200,
      ignored: undefined,
    });
  });

  it('names what was ignored and what was meant', async () => {
    expect(await answer('{"amount":1,"retrun_url":"https://a.example","colour":"red"}')).toEqual({
      status: 200,
      ignored: 'retrun_url; did you mean return_url?, colour',
    });
  });

  it('comes with a refusal too', async () => {
    expect(await answer('{"ammount":1}')).toEqual({ status: 400, ignored: 'ammount; did you mean amount?' });
  });

  it('is a header of bounded length whatever the names are', async () => {
    // The name `__proto__` is refused.
    const name = fc.string({ unit: 'binary', maxLength: 100 }).filter((text) => text !== '__proto__');
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, fc.constant(1), { minKeys: 1, maxKeys: 30 }), async (fields) => {
        const { ignored } = await answer(JSON.stringify({ ...fields, amount: 1, colour: 1 }));
        expect(ignored).toMatch(/^[\x20-\x7e]+$/);
        expect(String(ignored).length).toBeLessThan(8_192);
      }),
    );
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1]));
    expect((await answer(JSON.stringify({ ...many, amount: 1 }))).ignored).toBe(
      'x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, and 4990 more',
    );
  });
});
