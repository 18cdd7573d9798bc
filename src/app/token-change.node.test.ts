import { describe, expect, it } from 'vitest';
import { testApp, type TestApp } from '../../test/harness.ts';
import { tokenOf, type AssetCode, type Network } from '../domain/asset.ts';
import type { Payment } from '../domain/payment.ts';
import { MAX_TOKEN_CHANGES } from '../domain/transition.ts';
import { createWalletOpener, MAIN_CHAINS } from '../rails/wallet.ts';
import { fixedRates } from '../rates/fixed.ts';
import type { RateSource } from '../rates/source.ts';
import { saveTransfers } from '../store/transfers.ts';
import { arrival, observeMoney } from './chain-money.ts';
import { chainRail } from './chain-rail.ts';
import { account, setWallet, xpubOf } from './follow-chain.fixture.ts';
import { selectToken } from './payment-actions.ts';
import { walletsOf } from './wallets.ts';

/** A shop that takes ether and dollars on Ethereum and Base, at prices that the test moves. */
async function tokenShop(): Promise<{ readonly app: TestApp; readonly setEther: (usd: bigint) => void }> {
  let ether = 3_000n;
  const rates: RateSource = {
    usdPrice: (code) =>
      fixedRates(
        new Map([
          ['ETH', ether * 100_000_000n],
          ['USDT', 100_000_000n],
          ['USDC', 100_000_000n],
        ]),
      ).usdPrice(code),
  };
  const tokens = (['ETH', 'USDT', 'USDC'] as const).flatMap((asset) => {
    const token = tokenOf(asset, 'ethereum');
    return token === null ? [] : [token];
  });
  const app = await testApp({
    live: ({ db }) =>
      chainRail({
        db,
        rates,
        tokens,
        openWallet: createWalletOpener(MAIN_CHAINS),
        evmChain: () => null,
        payoutChain: () => 'main',
      }),
  });
  await setWallet(app, app.projectId);
  return { app, setEther: (usd) => void (ether = usd) };
}

const transaction = (app: TestApp): Promise<Payment> =>
  app.pay({ mode: 'live', surface: 'transaction', token: null, amountMinor: 3_000n });

/** Chooses a token a second after the last choice; returns the payment with its quote. */
async function choose(app: TestApp, { id }: Payment, asset: AssetCode) {
  app.clock.advance(1_000);
  const outcome = await selectToken(app, { id }, { asset, network: 'ethereum' });
  if (outcome.kind !== 'changed') throw new Error(JSON.stringify(outcome));
  const { quote } = outcome.payment;
  if (quote === null) throw new Error('there is no quote');
  return quote;
}

let hashes = 0;

/** What arrives in a block on the payment's address. */
async function arrives(app: TestApp, payment: Payment, address: string, asset: AssetCode, amount: bigint) {
  const network: Network = 'ethereum';
  const block = { height: 1, hash: '0x1', parentHash: '0x0', timeMs: app.clock(), transfers: [] };
  const transactionHash = `0x${String((hashes += 1)).padStart(64, '0')}`;
  const transfer = { transactionHash, index: 0, address: address.toLowerCase(), asset, amount };
  await app.db.transaction().execute(async (trx) => {
    await saveTransfers(trx, arrival(network, block, transfer, payment.id, app.clock()));
    await observeMoney(app, trx, [payment.id], app.clock());
  });
  return app.read(payment.id);
}

const nextIndex = async (app: TestApp): Promise<number | undefined> => {
  const outcome = await walletsOf(app, app.projectId);
  return outcome.kind === 'done' ? outcome.wallets[0]?.nextIndex : undefined;
};

const dollars = (units: bigint): bigint => units * 1_000_000n;

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

  it('is told what stands in the way first: money that was seen, or its end', async () => {
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
      ledger: { all: { seenUnits: dollars(15n) } },
    });
    expect(await arrives(app, payment, address, 'USDC', dollars(15n))).toMatchObject({
      status: 'confirming',
      exception: 'none',
      quote: { asset: 'USDC' },
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

  it('in test mode keeps its address too', async () => {
    const app = await testApp();
    const payment = await app.pay({ surface: 'transaction', token: null });
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
