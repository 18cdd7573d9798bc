import { expect, it } from 'vitest';
import { testService } from '../../../test/program.ts';
import { program, textAt } from '../program.fixture.ts';

it('invoices and payment requests are made, listed, shown and ended with an address and a key alone', async () => {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' });
  const { first } = await service.start();
  const cointill = await program({ COINTILL_URL: service.sandbox, COINTILL_KEY: first?.key ?? '' });
  const words = '--amount 49.90 --currency EUR --coins BTC,USDC/polygon --order A-1';
  const invoice = await cointill.json('invoice', 'create', ...words.split(' '));
  expect(invoice).toMatchObject({ amount: 49.9, currency: 'EUR', coins: ['BTC', 'USDC/polygon'], order_id: 'A-1' });
  const id = textAt(invoice, 'id');
  expect((await cointill.run('invoice', 'list')).stdout).toMatch(new RegExp(`^${id}  pending  49.9 +EUR +A-1`, 'm'));
  expect(await cointill.json('invoice', 'complete', id)).toMatchObject({ status: 'completed' });
  const { stdout } = await cointill.run('invoice', 'show', id);
  expect(stdout).toMatch(/^status +completed$/m);
  expect(stdout).toMatch(/^metadata +order_id: A-1$/m);
  expect(await cointill.run('invoice', 'cancel', id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot be cancelled because it is completed'),
  });

  const ask = ['--title', 'Coffee', '--currency', 'EUR', '--payments', 'any', '--min', '1', '--ask', 'name,note'];
  const request = await cointill.json('request', 'create', ...ask);
  expect(request).toMatchObject({
    title: 'Coffee',
    amount: null,
    min_amount: 1,
    max_payments: null,
    ask: { email: false, name: true, note: true },
  });
  const requestId = textAt(request, 'id');
  expect((await cointill.run('request', 'list', '--status', 'open')).stdout).toContain(requestId);
  expect(await cointill.json('request', 'close', requestId)).toMatchObject({ status: 'closed' });
  expect((await cointill.run('request', 'show', requestId)).stdout).toMatch(/^status +closed$/m);
  for (const wrong of [
    ['invoice', 'create', '--amount', '5,00', '--currency', 'EUR'],
    ['request', 'create', '--title', 'x', '--currency', 'EUR', '--ask', 'phone'],
    ['request', 'create', '--title', 'x', '--currency', 'EUR', '--payments', '0'],
    ['request', 'list', '--status', 'done'],
  ]) {
    expect([wrong, (await cointill.run(...wrong)).code]).toEqual([wrong, 2]);
  }
});
