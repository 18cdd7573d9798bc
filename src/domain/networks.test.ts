import { describe, expect, it } from 'vitest';
import {
  EVM_NETWORKS,
  NETWORK_FACTS,
  NETWORKS,
  UTXO_NETWORKS,
  addressPage,
  familyFacts,
  isEvmNetwork,
  isUtxoNetwork,
  nativeAsset,
  perNetwork,
  requiredConfirmations,
  settingOf,
  transactionPage,
} from './networks.ts';

describe('required confirmations', () => {
  it('follow the amount: below 1,000 USD, below 100,000 USD, and above', () => {
    const at = (usd: bigint): number => requiredConfirmations('bitcoin', usd * 100n);
    expect([at(0n), at(999n), at(1_000n), at(99_999n), at(100_000n), at(10_000_000n)]).toEqual([2, 2, 6, 6, 12, 12]);
  });

  it.each(NETWORKS)('on %s never fall with the amount, and the last tier has no bound', (network) => {
    const { confirmations } = NETWORK_FACTS[network];
    const depths = confirmations.map((tier) => tier.confirmations);
    expect(depths).toEqual(depths.toSorted((a, b) => a - b));
    expect(depths[0]).toBeGreaterThan(0);
    expect(confirmations.at(-1)?.belowUsdCents).toBeNull();
  });
});

describe('a network', () => {
  it.each(NETWORKS)('%s is of one family, and is told of as such', (network) => {
    const { family } = NETWORK_FACTS[network];
    expect([isUtxoNetwork(network), isEvmNetwork(network)]).toEqual([family === 'utxo', family === 'evm']);
    expect([UTXO_NETWORKS, EVM_NETWORKS].filter((some) => (some as readonly string[]).includes(network))).toHaveLength(
      1,
    );
    // Waiting transactions are seen if a mempool is listed, and there a refund is signed as a transaction.
    expect(familyFacts(network)).toMatchObject(
      family === 'utxo' ? { seesWaiting: true, refundsBy: 'psbt' } : { seesWaiting: false, refundsBy: 'call' },
    );
  });

  it('has a coin of its own only where payments are taken in it', () => {
    expect(nativeAsset('bitcoin')).toBe('BTC');
    expect(nativeAsset('base')).toBe('ETH');
    expect(nativeAsset('polygon')).toBeNull();
  });

  it('is set up by settings that begin with its name', () => {
    expect(settingOf('arbitrum', 'RPC_URL')).toBe('ARBITRUM_RPC_URL');
    expect(settingOf('bitcoin', 'COOKIE_FILE')).toBe('BITCOIN_COOKIE_FILE');
  });

  it.each(NETWORKS)('%s has an explorer of its own, by HTTPS and without a path', (network) => {
    const { explorer } = NETWORK_FACTS[network];
    expect([new URL(explorer).origin, new URL(explorer).protocol]).toEqual([explorer, 'https:']);
    expect(NETWORKS.filter((one) => NETWORK_FACTS[one].explorer === explorer)).toEqual([network]);
  });

  it('shows transactions and addresses in its explorer, whatever their text is', () => {
    expect(transactionPage('https://mempool.space', 'ab12')).toBe('https://mempool.space/tx/ab12');
    expect(addressPage('https://etherscan.io', '0xAb')).toBe('https://etherscan.io/address/0xAb');
    expect(addressPage('https://etherscan.io', '../x?y#z')).toBe('https://etherscan.io/address/..%2Fx%3Fy%23z');
  });

  it('gets a value of its own where each gets one', () => {
    expect(perNetwork(['bitcoin', 'base'], (network) => `of ${network}`)).toEqual({
      bitcoin: 'of bitcoin',
      base: 'of base',
    });
  });
});
