import { describe, expect, it } from 'vitest';
import { fixedRates } from '../rates/fixed.ts';
import { sandboxRail } from './sandbox-rail.ts';

describe('the sandbox', () => {
  const rail = sandboxRail(fixedRates(new Map()), 60_000);

  it('offers the tokens of networks that have a test network to name, and none of those that are live only', async () => {
    const networks = new Set((await rail.tokens('any project')).map(({ network }) => network));
    expect(networks).toContain('bitcoin');
    expect(networks).toContain('base');
    expect(networks).not.toContain('optimism');
  });

  it('never names the chain of real money in what a wallet is asked to pay', () => {
    expect(rail.evmChain({ asset: 'ETH', network: 'ethereum' })).toEqual({ chainId: 11_155_111, contract: null });
    expect(rail.evmChain({ asset: 'ETH', network: 'optimism' })).toBeNull();
  });
});
