import { testApp, type TestApp } from '../../../test/harness.ts';
import { tokenOf } from '../../domain/asset.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Payment } from '../../domain/payment.ts';
import { matchingAddress } from '../../rails/address.ts';
import { MAIN_WALLETS } from '../../rails/wallet.fixture.ts';
import { fixedRates } from '../../rates/fixed.ts';
import type { RateSource } from '../../rates/source.ts';
import { saveTransfers } from '../../store/payments/transfers.ts';
import { arrival, observeMoney } from './chain-money.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { setWallet } from '../chains/follow-chain.fixture.ts';
import { selectToken } from './payment-actions.ts';
import type { Rail } from '../../modes/rail.ts';
import { inTransaction } from '../in-transaction.ts';

/** A shop that accepts ether and dollar tokens on Ethereum and Base, at prices that the test sets. */
export async function tokenShop(
  evmChain: Rail['evmChain'] = () => null,
): Promise<{ readonly app: TestApp; readonly setEther: (usd: bigint) => void }> {
  let ether = 3_000n;
  const rates: RateSource = {
    usdPrice: (code) =>
      fixedRates(
        new Map([
          ['ETH', ether * 100_000_000n],
          ['BTC', 60_000n * 100_000_000n],
          ['USDT', 100_000_000n],
          ['USDC', 100_000_000n],
        ]),
      ).usdPrice(code),
  };
  const tokens = (['ETH', 'USDT', 'USDC', 'BTC'] as const).flatMap((asset) => {
    const token = tokenOf(asset, asset === 'BTC' ? 'bitcoin' : 'ethereum');
    return token === null ? [] : [token];
  });
  const app = await testApp({
    live: ({ db }) =>
      chainRail({
        db,
        rates,
        tokens,
        ...MAIN_WALLETS,
        evmChain,
        payoutChain: () => 'main',
      }),
  });
  await setWallet(app, app.projectId);
  return { app, setEther: (usd) => void (ether = usd) };
}

export const transaction = (app: TestApp): Promise<Payment> =>
  app.pay({ mode: 'live', api: 'transaction', token: null, amountMinor: 3_000n });

/** Chooses a token a second after the last choice; returns the payment with its quote. */
export async function choose(app: TestApp, { id }: Payment, asset: AssetCode) {
  app.clock.advance(1_000);
  const outcome = await selectToken(app, { id }, { asset, network: 'ethereum' });
  if (outcome.kind !== 'changed') throw new Error(JSON.stringify(outcome));
  const { quote } = outcome.payment;
  if (quote === null) throw new Error('there is no quote');
  return quote;
}

let hashes = 0;

/** A transfer in a block to the payment's address. */
export async function arrives(
  app: TestApp,
  payment: Payment,
  address: string,
  asset: AssetCode,
  amount: bigint,
  state: 'mined' | 'confirmed' = 'mined',
) {
  const network: Network = asset === 'BTC' ? 'bitcoin' : 'ethereum';
  const block = { height: 1, hash: '0x1', parentHash: '0x0', timeMs: app.clock(), transfers: [] };
  const transactionHash = `0x${String((hashes += 1)).padStart(64, '0')}`;
  const transfer = { transactionHash, index: 0, address: matchingAddress(network, address), asset, amount };
  await inTransaction(app, async (trx) => {
    const arrived = arrival(network, block, transfer, payment.id, app.clock());
    await saveTransfers(
      trx,
      arrived.map((each) => ({ ...each, transfer: { ...each.transfer, state } })),
    );
    await observeMoney(app, trx, [payment.id], app.clock());
  });
  return app.read(payment.id);
}

/** Units of a token of 6 decimals. */
export const dollars = (units: bigint): bigint => units * 1_000_000n;
