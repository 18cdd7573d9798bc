import { testApp, type TestApp } from '../../../test/harness.ts';
import { allTokens } from '../../domain/asset.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { publicKeyAt } from '../../rails/utxo/wallet.fixture.ts';
import { createWalletOpener } from '../../rails/wallet.ts';
import { fixedRates, parseFixedRates } from '../../rates/fixed.ts';
import { setProjectWallet } from '../projects/wallets.ts';

const TREASURY = '0x52908400098527886E0F7030069857D2E4169EE7';
const ON_THESE = ['bitcoin', 'ethereum', 'polygon'];
const rates = parseFixedRates('BTC=60000,ETH=3000,USDT=1,USDC=1');

/** A shop in live mode with wallets on Bitcoin, Ethereum and Polygon, or with none. No node runs. */
export async function liveShop({ wallets = true } = {}): Promise<TestApp> {
  if (rates.kind === 'invalid') throw new Error(rates.message);
  const live = {
    rates: fixedRates(rates.prices),
    tokens: allTokens().filter(({ network }) => ON_THESE.includes(network)),
  };
  const openWallet = createWalletOpener(MAIN_CHAINS);
  const app = await testApp({
    live: ({ db }) => chainRail({ db, ...live, openWallet, evmChain: () => null, payoutChain: () => 'main' }),
  });
  const terms = { projectId: app.projectId, confirmations: null, toleranceBasisPoints: null };
  for (const network of wallets ? ON_THESE : []) {
    const source =
      network === 'bitcoin'
        ? ({ kind: 'xpub', text: publicKeyAt("m/84'/0'/0'", 'zpub') } as const)
        : ({ kind: 'treasury', text: TREASURY } as const);
    const set = await setProjectWallet(app, { ...terms, network, source }, MAIN_CHAINS);
    if (set.kind !== 'done') throw new Error(set.code);
  }
  return app;
}
