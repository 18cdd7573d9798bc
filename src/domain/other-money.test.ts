import { describe, expect, it } from 'vitest';
import { otherMoney } from './other-money.ts';
import { ETH_QUOTE } from './payment.fixture.ts';
import type { Transfer } from './payment.ts';

function transfer(facts: Partial<Transfer>): Transfer {
  return {
    network: 'ethereum',
    transactionHash: '0x1',
    index: 0,
    address: '0xa',
    asset: 'USDC',
    amountUnits: 5n,
    firstSeenAt: 1,
    blockAt: 1,
    blockHeight: 1,
    blockPosition: 0,
    state: 'confirmed',
    ...facts,
  };
}

describe('money in other tokens than the quote’s', () => {
  it('is the quote’s own asset too where it came on another network, and everything before a token was chosen', () => {
    const ether = transfer({ asset: 'ETH', network: 'base' });
    expect(otherMoney({ quote: ETH_QUOTE }, [ether])).toMatchObject([{ asset: 'ETH', network: 'base', seenUnits: 5n }]);
    expect(otherMoney({ quote: null }, [ether])).toMatchObject([{ asset: 'ETH', network: 'base' }]);
  });

  it('is added up token by token, without what was dropped and without the quote’s own', () => {
    const transfers = [
      transfer({}),
      transfer({ transactionHash: '0x2', amountUnits: 7n, state: 'mined' }),
      transfer({ transactionHash: '0x3', amountUnits: 100n, state: 'dropped' }),
      transfer({ transactionHash: '0x4', network: 'base' }),
      transfer({ transactionHash: '0x5', asset: 'ETH' }),
    ];
    expect(otherMoney({ quote: ETH_QUOTE }, transfers)).toEqual([
      {
        asset: 'USDC',
        network: 'ethereum',
        seenUnits: 12n,
        minedUnits: 12n,
        confirmedUnits: 5n,
        transactionHashes: ['0x1', '0x2'],
      },
      {
        asset: 'USDC',
        network: 'base',
        seenUnits: 5n,
        minedUnits: 5n,
        confirmedUnits: 5n,
        transactionHashes: ['0x4'],
      },
    ]);
  });
});
