import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRefund } from '../../src/app/refunds/create-refund.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../../src/domain/money.ts';
import { encodeId } from '../../src/domain/id.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { SearchHit } from '../../src/http/dashboard/payment-list/contract.ts';
import { deleteCustomerData } from '../../src/store/payments/customer-data.ts';
import { PAYMENTS } from '../../src/store/schema/payments.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import { dashboardTest } from '../dashboard.ts';

const test = await dashboardTest();
const { app } = test.http;
afterAll(() => test.http.close());

const owner = await test.join('owner');

interface Found {
  readonly mode: string;
  readonly data: readonly SearchHit[];
}

async function find(text: string, projectId = app.projectId, mode = 'test'): Promise<Found> {
  const path = `/dashboard/api/projects/${projectId}/${mode}/search?text=${encodeURIComponent(text)}`;
  const answer = await owner.browser.call<Found>({ path });
  if (answer.status !== 200) throw new Error(`${path} → ${answer.status} ${answer.text}`);
  return answer.body;
}
const idsOf = ({ data }: Found): readonly string[] => data.map(({ payment }) => payment.id);
const waysOf = ({ data }: Found): readonly string[] => data.map(({ found_by }) => found_by);

describe('one text', () => {
  let order: Payment;
  let evm: Payment;
  let hash = '';
  let refundId = '';
  let eventId = '';
  beforeAll(async () => {
    await app.pay({ description: 'Tea, another one', customerEmail: 'ben@shop.example' });
    order = await app.pay({
      merchantOrderId: 'NW-1042',
      description: 'Teapot, blue. With a lid',
      customerEmail: 'Mara@Shop.Example',
    });
    evm = await app.pay({ api: 'transaction', token: { asset: 'USDT', network: 'ethereum' } });
    const paid = await simulatePayment(
      app,
      { id: order.id, projectId: app.projectId, mode: 'test', api: 'order' },
      'paid',
    );
    if (paid.kind !== 'changed') throw new Error(paid.kind);
    hash = (await app.read(order.id)).transactionHash ?? '';
    const refund = await createRefund(
      app,
      {
        paymentId: order.id,
        projectId: app.projectId,
        mode: 'test',
        api: 'order',
        wanted: null,
        address: null,
        reason: null,
      },
      null,
    );
    if (refund.kind !== 'done') throw new Error(JSON.stringify(refund));
    refundId = encodeId('refund', refund.refund.id);
    const { id } = await app.db
      .selectFrom('events')
      .select('id')
      .where('payment_id', '=', order.id)
      .limit(1)
      .executeTakeFirstOrThrow();
    eventId = encodeId('event', id);
  });

  it('finds the payment that it is anything of, and says by what', async () => {
    const address = order.quote?.address ?? '';
    const ways: readonly (readonly [text: string, by: string, payment?: Payment])[] = [
      [publicPaymentId(order), 'id'],
      [publicPaymentId(order).toUpperCase(), 'id'],
      [evm.id, 'id', evm],
      [evm.id.toUpperCase(), 'id', evm],
      [evm.transactionNumber ?? '', 'number', evm],
      [evm.transactionNumber?.toLowerCase() ?? '', 'number', evm],
      ['NW-1042', 'order_id'],
      ['  mara@shop.example ', 'email'],
      ['teapot', 'description'],
      ['TEAPOT, BLUE. WITH A LID', 'description'],
      ['nw-10', 'order_id'],
      ['mara@sh', 'email'],
      [hash, 'transaction_hash'],
      [`0x${hash.toUpperCase()}`, 'transaction_hash'],
      [`https://mempool.space/testnet4/tx/${hash}`, 'transaction_hash'],
      [address, 'address'],
      [address.toUpperCase(), 'address'],
      [`bitcoin:${address}?amount=0.001&label=Shop`, 'address'],
      [`https://mempool.space/address/${address}`, 'address'],
      [evm.quote?.address ?? '', 'address', evm],
      [evm.quote?.address.toLowerCase() ?? '', 'address', evm],
      [evm.quote?.address.slice(2).toUpperCase() ?? '', 'address', evm],
      [`ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=${evm.quote?.address}`, 'address', evm],
      [refundId, 'refund'],
      [eventId, 'event'],
    ];
    for (const [text, by, payment = order] of ways) {
      expect([text, await find(text)]).toMatchObject([
        text,
        { mode: 'test', data: [{ found_by: by, payment: { id: publicPaymentId(payment) } }] },
      ]);
    }
  });

  it('finds nothing of another project, by whatever it is called', async () => {
    const { projectId } = await test.http.shop();
    const texts = [publicPaymentId(order), 'NW-1042', 'mara@shop.example', 'Teapot', hash, refundId, eventId];
    for (const text of [...texts, order.quote?.address ?? '', evm.id, evm.quote?.address ?? '']) {
      expect([text, await find(text, projectId)]).toEqual([text, { mode: 'test', data: [] }]);
    }
  });

  it('finds what is in the other mode, where this one has nothing, and says so', async () => {
    expect(await find('NW-1042', app.projectId, 'live')).toMatchObject({
      mode: 'test',
      data: [{ payment: { id: publicPaymentId(order), mode: 'test' } }],
    });
  });

  it('is the beginnings of words, not the middle of one', async () => {
    const counts = [
      ['tea', 2],
      ['te', 2],
      ['lid', 1],
      ['a lid', 1],
      ['pot', 0],
      ['t', 0],
      ['Te%t', 0],
      ['Te_pot', 0],
    ] as const;
    for (const [text, count] of counts) expect([text, idsOf(await find(text)).length]).toEqual([text, count]);
  });

  it('finds the same in the list', async () => {
    for (const text of ['Teapot', hash, refundId, eventId, order.quote?.address.toUpperCase() ?? '']) {
      const path = `/dashboard/api/projects/${app.projectId}/test/payments?search=${encodeURIComponent(text)}`;
      const { body } = await owner.browser.call<{ data: readonly { readonly id: string }[] }>({ path });
      expect([text, body.data.map(({ id }) => id)]).toEqual([text, [publicPaymentId(order)]]);
    }
  });

  it('may be anything, and is answered or refused with a sentence', async () => {
    const odd = ["' or 1=1 --", '\\', '%', '{}', '<script>', 'bitcoin:', 'http://', '💶'.repeat(60), '1'.repeat(64)];
    for (const text of odd) expect(idsOf(await find(text))).toEqual([]);
    const call = (text: string) =>
      owner.browser.call({
        path: `/dashboard/api/projects/${app.projectId}/test/search?text=${encodeURIComponent(text)}`,
      });
    for (const text of ['', 'x'.repeat(256), 'a\0b']) {
      expect(await call(text)).toMatchObject({ status: 400, body: { error: { param: 'text' } } });
    }
  });
});

describe('a part that a person on the phone has', () => {
  let projectId = '';
  let anna: Payment;
  let bruno: Payment;
  beforeAll(async () => {
    ({ projectId } = await test.http.shop());
    anna = await app.pay({
      projectId,
      api: 'transaction',
      token: { asset: 'USDT', network: 'ethereum' },
      merchantOrderId: 'HC-31059',
      customerEmail: 'Anna.Schmidt@Example.com',
      customerName: 'Anna Schmidt-Köhler',
      description: 'Kaffeebohnen „Äthiopien“, 2 kg',
      amountMinor: 4_990n,
      currency: 'EUR',
    });
    app.clock.advance(1_000);
    bruno = await app.pay({
      projectId,
      merchantOrderId: 'HC-31060',
      customerEmail: 'bruno@example.org',
      customerName: "Bruno O'Brien",
      description: 'Mühle',
      amountMinor: 123_450n,
      currency: 'USD',
    });
    const note = { id: '00000000-0000-7000-8000-0000000000aa', body: 'Rief an: Paket beschädigt' };
    await sql`insert into payment_notes values (${note.id}, ${anna.id}, ${owner.id}, 'owner', ${note.body}, 1, now())`.execute(
      app.db,
    );
    const label = '00000000-0000-7000-8000-0000000000bb';
    await sql`insert into labels values (${label}, ${projectId}, 'Stammkunde VIP', now())`.execute(app.db);
    await sql`insert into payment_labels values (${bruno.id}, ${label}, 'test')`.execute(app.db);
  });

  const namesOf = async (text: string): Promise<readonly string[]> => {
    const { data } = await find(text, projectId);
    return data.map(({ payment }) => (payment.id === anna.id ? 'anna' : 'bruno'));
  };

  it.each(['while it is open', 'when it has ended'])('finds the payment %s', async (state) => {
    if (state === 'when it has ended') {
      await sql`update payments set status = 'expired' where project_id = ${projectId}`.execute(app.db);
    }
    const address = anna.quote?.address ?? '';
    const ofAnna = [
      'hc-31059',
      'HC-31059',
      '31059',
      'hc 31059',
      'schm',
      'SCHMIDT',
      'anna',
      'anna.schmidt',
      'schmidt@ex',
      'example.com',
      'köh',
      'KÖHLER',
      'schmidt-k',
      'kaffee',
      'äthiop',
      '„äthiopien“',
      'anna schm',
      'köhler, anna',
      'schm kaffee 2',
      '49,90',
      '49.90',
      '€49,90',
      '49,90 €',
      '49.9 eur',
      'EUR 49,90',
      'anna 49,90',
      'paket',
      'beschädigt schm',
      'rief',
      anna.transactionNumber?.toLowerCase() ?? '',
      anna.id.slice(0, 23),
      address.slice(0, 10).toUpperCase(),
      address.slice(2, 12),
      '\u200fanna\u200e',
    ];
    for (const text of ofAnna) expect([text, await namesOf(text)]).toEqual([text, ['anna']]);
    const ofBruno = [
      "o'brien",
      'brien',
      'mühle',
      'example.org',
      '1.234,50',
      '1,234.50',
      '1234.5',
      '$1,234.50',
      'stamm',
      'VIP bruno',
    ];
    for (const text of [...ofBruno, publicPaymentId(bruno).slice(0, 16).toUpperCase()]) {
      expect([text, await namesOf(text)]).toEqual([text, ['bruno']]);
    }
    for (const text of ['hc-310', 'example', 'HC', 'exam']) {
      expect([text, await namesOf(text)]).toEqual([text, ['bruno', 'anna']]);
    }
    for (const text of ['anna bruno', 'midt', 'h', 'hc-1059', '49,9 usd', '49,91', 'vip anna', 'aket', 'paket bruno']) {
      expect([text, await namesOf(text)]).toEqual([text, []]);
    }
  });

  it('says by what it was found', async () => {
    const ways = [
      ['schm', 'email'],
      ['köhler', 'name'],
      ['49,90', 'amount'],
      ['hc-31059', 'order_id'],
      ['paket', 'note'],
    ] as const;
    for (const [text, by] of ways) expect([text, waysOf(await find(text, projectId))]).toEqual([text, [by]]);
  });

  it('finds nothing by what was deleted of a customer', async () => {
    const email = 'anna.schmidt@example.com';
    await app.db
      .transaction()
      .execute((trx) => deleteCustomerData(trx, projectId, { kind: 'email', email }, { after: null, limit: 10 }));
    for (const text of ['schm', 'köhler', 'kaffee', 'paket', email]) {
      expect([text, await namesOf(text)]).toEqual([text, []]);
    }
    expect(await namesOf('hc-31059')).toEqual(['anna']);
  });

  it('is counted, and added up in each currency as far as all are counted', async () => {
    const count = async (query: string) =>
      (await owner.browser.call({ path: `/dashboard/api/projects/${projectId}/test/payments/count?${query}` })).body;
    expect(await count('search=hc-310')).toMatchObject({ count: 2, is_more: false });
    expect(await count('search=vip')).toMatchObject({ count: 1, is_more: false });
    expect(await count('search=%25')).toMatchObject({ count: 0, is_more: false });
    expect(await count('search=hc&api=order')).toMatchObject({ count: 1, is_more: false });
    expect(await count('amount_min=100')).toMatchObject({ count: 1, is_more: false });
    const { sums } = Object(await count(''));
    const { rows } = await sql<{ currency: string; minor: string }>`
      select currency, sum(amount_minor)::text as minor from payments
      where project_id = ${projectId} and mode = 'test' group by currency order by sum(amount_minor) desc`.execute(
      app.db,
    );
    expect(sums).toEqual(
      rows.map(({ currency, minor }) => ({
        currency,
        amount: formatDecimal(BigInt(minor), fiatDecimals(currency as Fiat)),
      })),
    );
    const others = PAYMENTS.names.filter((name) => name !== 'id').join(', ');
    await sql`insert into payments (id, ${sql.raw(others)}) select gen_random_uuid(), ${sql.raw(others)}
      from payments, generate_series(1, 10001) where id = ${bruno.id}`.execute(app.db);
    expect(await count('search=brien')).toMatchObject({ count: 10_000, is_more: true });
    expect(await count('')).toEqual({ count: 10_000, is_more: true, sums: [] });
  });
});

describe('a live payment', () => {
  it('is found by each of its addresses and transfers, in any spelling, and by what paid its refund', async () => {
    const { id } = await app.pay({ merchantOrderId: 'LIVE-1' });
    const evmAddress = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
    const hashes = { transfer: 'ab'.repeat(32), payout: 'cd'.repeat(32) };
    const refund = '00000000-0000-7000-8000-00000000000a';
    await sql`update payments set mode = 'live', address = 'bc1qcurrent' where id = ${id}`.execute(app.db);
    for (const [network, address] of [
      ['bitcoin', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
      ['base', evmAddress],
      ['bitcoin', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ] as const) {
      await sql`insert into payment_addresses (network, address, payment_id, asset, decimals, owed_units, tolerance_units,
          issued_at, watch_until, confirmations)
        values (${network}, ${address}, ${id}, 'BTC', 8, 1, 0, now(), now(), 1)`.execute(app.db);
    }
    await sql`insert into transfers (network, transaction_hash, output_index, payment_id, address, asset, amount_units, state, first_seen_at)
      values ('base', ${`0x${hashes.transfer}`}, 0, ${id}, ${evmAddress}, 'USDC', 1, 'confirmed', now())`.execute(
      app.db,
    );
    await sql`insert into refunds (id, project_id, mode, payment_id, payment_surface, status, amount_minor, currency, asset,
        network, decimals, units, created_at)
      values (${refund}, ${app.projectId}, 'live', ${id}, 'order', 'completed', 1, 'USD', 'BTC', 'bitcoin', 8, 1, now())`.execute(
      app.db,
    );
    await sql`insert into refund_payouts (network, transaction_hash, asset, output_index, refund_id, block_height)
      values ('bitcoin', ${hashes.payout}, 'BTC', 0, ${refund}, 1)`.execute(app.db);
    for (const [text, by] of [
      ['3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 'address'],
      ['BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ', 'address'],
      ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'address'],
      [evmAddress.slice(2).toUpperCase(), 'address'],
      [hashes.transfer.toUpperCase(), 'transaction_hash'],
      [`https://basescan.org/tx/0x${hashes.transfer}`, 'transaction_hash'],
      [hashes.payout, 'transaction_hash'],
      [encodeId('refund', refund), 'refund'],
    ] as const) {
      const found = await find(text, app.projectId, 'live');
      expect([text, idsOf(found), waysOf(found)]).toEqual([text, [encodeId('order', id)], [by]]);
    }
  });
});
