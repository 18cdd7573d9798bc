import { describe, expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { MAX_TOKEN_CHANGES } from '../../domain/transition.ts';
import { account, setWallet, xpubOf } from '../chains/follow-chain.fixture.ts';
import { inTransaction } from '../in-transaction.ts';
import { observeMoney } from './chain-money.ts';
import { cancelPayment, selectToken } from './payment-actions.ts';
import { arrives, choose, dollars, tokenShop, transaction } from './token-shop.fixture.ts';
import { walletsOf } from '../projects/wallets.ts';

const nextIndex = async (app: TestApp): Promise<number | undefined> => {
  const outcome = await walletsOf(app, app.projectId);
  return outcome.kind === 'done' ? outcome.wallets[0]?.nextIndex : undefined;
};

describe('a payment whose token is changed', () => {
  it('keeps the address that it has on the network, with a quote of its own for each token', async () => {
    const { app, setEther } = await tokenShop();
    const payment = await transaction(app);
    const first = await choose(app, payment, 'ETH');
    const tether = await choose(app, payment, 'USDT');
    const circle = await choose(app, payment, 'USDC');
    setEther(2_500n);
    const again = await choose(app, payment, 'ETH');
    expect([tether.address, circle.address, again.address]).toEqual([first.address, first.address, first.address]);
    expect([first.owedUnits, again.owedUnits]).toEqual([10n ** 16n, 12n * 10n ** 15n]);
    expect(tether).toMatchObject({ asset: 'USDT', owedUnits: dollars(30n), decimals: 6 });
    expect(await nextIndex(app)).toBe(1);
  });

  it('is refused an eleventh change, and has used up one address by then, however many ask at once', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    await choose(app, payment, 'ETH');
    const asked = Array.from({ length: 3 * MAX_TOKEN_CHANGES }, (_, index) =>
      selectToken(app, { id: payment.id }, { asset: index % 2 === 0 ? 'USDT' : 'ETH', network: null }),
    );
    const outcomes = await Promise.all(asked);
    expect(outcomes.filter(({ kind }) => kind === 'changed')).toHaveLength(MAX_TOKEN_CHANGES);
    const refused = outcomes.filter(({ kind }) => kind !== 'changed');
    expect(refused).toHaveLength(2 * MAX_TOKEN_CHANGES);
    for (const each of refused) expect(each).toMatchObject({ kind: 'refused', reason: 'too_many_changes' });
    expect(await nextIndex(app)).toBe(1);
  });

  it('is refused with the first reason: money that was seen, or its end', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    const first = await choose(app, payment, 'ETH');
    for (let change = 0; change < MAX_TOKEN_CHANGES; change += 1) await choose(app, payment, 'USDT');
    await arrives(app, payment, first.address, 'USDT', 1n);
    const wanted = { asset: 'ETH', network: null };
    expect(await selectToken(app, { id: payment.id }, wanted)).toMatchObject({ reason: 'money_seen' });
  });

  it.each([
    ['in another token', 'USDT', dollars(30n)],
    ['in the same token, at the price of then', 'ETH', 10n ** 16n],
  ] as const)('gets an earlier quote back when the money for it comes %s', async (_, asset, units) => {
    const { app, setEther } = await tokenShop();
    const payment = await transaction(app);
    const quotes = [await choose(app, payment, 'ETH'), await choose(app, payment, 'USDT')];
    setEther(2_500n);
    const current = await choose(app, payment, 'ETH');
    expect((await app.read(payment.id)).quote).toEqual(current);
    const paid = await arrives(app, payment, current.address, asset, units);
    expect(paid).toMatchObject({
      status: 'confirming',
      exception: 'none',
      quote: quotes.find((quote) => quote.asset === asset),
    });
  });

  it('keeps the present quote where its money comes, also when an earlier one was dearer', async () => {
    const { app, setEther } = await tokenShop();
    const payment = await transaction(app);
    await choose(app, payment, 'ETH');
    setEther(4_000n);
    const cheaper = await choose(app, payment, 'ETH');
    expect(await arrives(app, payment, cheaper.address, 'ETH', cheaper.owedUnits)).toMatchObject({
      status: 'confirming',
      exception: 'none',
      quote: cheaper,
    });
  });

  it('never adds up what comes in two tokens to its one address', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    await choose(app, payment, 'USDC');
    const { address } = await choose(app, payment, 'USDT');
    expect(await arrives(app, payment, address, 'USDT', dollars(15n))).toMatchObject({ exception: 'underpaid' });
    expect(await arrives(app, payment, address, 'USDC', dollars(15n))).toMatchObject({
      status: 'pending',
      exception: 'underpaid',
      quote: { asset: 'USDT' },
      received: { all: { seenUnits: dollars(15n) } },
    });
    expect(await arrives(app, payment, address, 'USDC', dollars(15n))).toMatchObject({
      status: 'confirming',
      exception: 'none',
      quote: { asset: 'USDC' },
    });
  });

  it('counts what came late in an earlier token as in time once the loss of its money has begun a grace period', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    await choose(app, payment, 'USDC');
    const { address } = await choose(app, payment, 'USDT');
    await arrives(app, payment, address, 'USDT', dollars(30n));
    app.clock.advance(24 * 60 * 60_000);
    await arrives(app, payment, address, 'USDC', dollars(30n));
    await app.db.updateTable('transfers').set({ state: 'dropped' }).where('asset', '=', 'USDT').execute();
    await inTransaction(app, (trx) => observeMoney(app, trx, [payment.id], app.clock()));
    expect(await app.read(payment.id)).toMatchObject({
      status: 'confirming',
      exception: 'none',
      quote: { asset: 'USDC' },
      received: { all: { minedUnits: dollars(30n) }, inTime: { minedUnits: dollars(30n) } },
    });
  });

  it('gets a fresh address where the wallet was replaced meanwhile, and the old one again when that is back', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    const first = await choose(app, payment, 'ETH');
    await setWallet(app, app.projectId, xpubOf(account(5)));
    const fresh = await choose(app, payment, 'USDT');
    expect(fresh.address).not.toBe(first.address);
    expect((await choose(app, payment, 'ETH')).address).toBe(fresh.address);
    await setWallet(app, app.projectId);
    expect((await choose(app, payment, 'USDC')).address).toBe(first.address);
    // Money for each of them still finds its quote.
    const paid = await arrives(app, payment, fresh.address, 'USDT', dollars(30n));
    expect(paid).toMatchObject({ status: 'confirming', quote: fresh });
  });

  it('counts money that came in a token before that token was chosen, as soon as it is', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    const { address } = await choose(app, payment, 'USDT');
    const other = await arrives(app, payment, address, 'USDC', dollars(30n), 'confirmed');
    expect(other).toMatchObject({ status: 'pending', received: { all: { seenUnits: 0n } } });
    await choose(app, payment, 'USDC');
    expect(await app.read(payment.id)).toMatchObject({
      status: 'completed',
      exception: 'none',
      quote: { asset: 'USDC' },
      received: { all: { confirmedUnits: dollars(30n) } },
    });
  });

  it('asks only for the rest of what came before its token was chosen', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    const { address } = await choose(app, payment, 'USDT');
    await arrives(app, payment, address, 'USDC', dollars(20n));
    await choose(app, payment, 'USDC');
    expect(await app.read(payment.id)).toMatchObject({
      status: 'pending',
      exception: 'underpaid',
      received: { all: { minedUnits: dollars(20n) } },
    });
    expect(await arrives(app, payment, address, 'USDC', dollars(10n))).toMatchObject({ status: 'confirming' });
  });

  it('is refused any token but that of the money that was seen', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    const { address } = await choose(app, payment, 'USDT');
    await arrives(app, payment, address, 'USDC', dollars(30n));
    const before = await app.read(payment.id);
    for (const asset of ['ETH', 'USDT']) {
      const outcome = await selectToken(app, { id: payment.id }, { asset, network: 'ethereum' });
      expect(outcome).toMatchObject({ kind: 'refused', reason: 'money_seen' });
    }
    expect(await app.read(payment.id)).toEqual(before);
  });

  it('cannot be cancelled while money of another token is on its address', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    const { address } = await choose(app, payment, 'USDT');
    await arrives(app, payment, address, 'USDC', dollars(30n), 'confirmed');
    expect(await cancelPayment(app, { id: payment.id })).toMatchObject({ kind: 'refused', reason: 'money_seen' });
    expect(await app.read(payment.id)).toMatchObject({ status: 'pending' });
    await app.db.updateTable('transfers').set({ state: 'dropped' }).where('payment_id', '=', payment.id).execute();
    expect(await cancelPayment(app, { id: payment.id })).toMatchObject({ payment: { status: 'cancelled' } });
  });

  it('in test mode keeps its address too', async () => {
    const app = await testApp();
    const payment = await app.pay({ api: 'transaction', token: null });
    const addresses = [];
    for (const asset of ['USDT', 'ETH', 'BTC', 'USDC', 'BTC'] as const) {
      const outcome = await selectToken(app, { id: payment.id }, { asset, network: null });
      addresses.push(outcome.kind === 'changed' ? outcome.payment.quote?.address : outcome.kind);
    }
    const [tether, ether, bitcoin] = addresses;
    expect(addresses).toEqual([tether, tether, bitcoin, tether, bitcoin]);
    expect(ether).not.toBe(bitcoin);
  });
});
