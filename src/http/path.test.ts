import { expect, it } from 'vitest';
import { loggedPath } from './path.ts';

it('a path in a log has neither a query, nor the token of a link, nor anybody’s e-mail address, however it is encoded', () => {
  const logged = (url: string) => loggedPath({ url });
  expect(logged('/v1/orders/ord_1?customer=ann')).toBe('/v1/orders/ord_1');
  expect(logged('https://pay.example/v1/orders')).toBe('/v1/orders');
  expect(logged('/dashboard/setup/secret')).toBe('/dashboard/setup/…');
  expect(logged('/dashboard/unsubscribe/secret')).toBe('/dashboard/unsubscribe/…');
  for (const address of [
    'ann@customer.example',
    'ann%40customer.example',
    '%61nn%40customer.example',
    'ann%2540customer.example',
    'ann%25%34%30customer.example',
    'ann%252540customer.example',
    'ann@customer.example%',
    'ann%40customer%ff.example',
  ]) {
    expect(logged(`/v1/orders/${address}/refunds`)).toBe('/v1/orders/…/refunds');
  }
  expect(logged('/v1/orders/A%20100%25/%zz')).toBe('/v1/orders/A%20100%25/%zz');
});
