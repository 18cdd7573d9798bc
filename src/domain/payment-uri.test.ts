import { describe, expect, it } from 'vitest';
import { evmTransfer, paymentUri, type UriRequest } from './payment-uri.ts';

const EVM_ADDRESS = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';
const request: UriRequest = {
  asset: 'BTC',
  network: 'bitcoin',
  decimals: 8,
  units: 1n,
  address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  evm: null,
};

describe('paymentUri', () => {
  it('writes BIP 21 with the amount in whole coins, without an exponent', () => {
    expect(paymentUri(request)).toBe('bitcoin:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq?amount=0.00000001');
    expect(paymentUri({ ...request, asset: 'LTC', network: 'litecoin', address: 'ltc1q', units: 250_000_000n })).toBe(
      'litecoin:ltc1q?amount=2.5',
    );
  });

  it('writes EIP-681 for ether with the value in wei, all digits', () => {
    const ether = { ...request, asset: 'ETH', network: 'base', decimals: 18, address: EVM_ADDRESS } as const;
    expect(paymentUri({ ...ether, evm: { chainId: 8453, contract: null }, units: 16_333_330_000_000_000n })).toBe(
      `ethereum:${EVM_ADDRESS}@8453?value=16333330000000000`,
    );
    expect(paymentUri({ ...ether, evm: { chainId: 31337, contract: null } })).toBe(
      `ethereum:${EVM_ADDRESS}@31337?value=1`,
    );
  });

  it('writes EIP-681 for a token as a transfer of its contract, and nothing without the contract', () => {
    const token = {
      ...request,
      asset: 'USDT',
      network: 'polygon',
      decimals: 6,
      address: EVM_ADDRESS,
      units: 5n,
    } as const;
    expect(
      paymentUri({ ...token, evm: { chainId: 137, contract: '0xc2132D05D31c914a87C6611C10748AEb04B58e8F' } }),
    ).toBe(`ethereum:0xc2132D05D31c914a87C6611C10748AEb04B58e8F@137/transfer?address=${EVM_ADDRESS}&uint256=5`);
    expect(paymentUri(token)).toBeNull();
  });

  it('writes nothing for an EVM chain that is not known', () => {
    expect(paymentUri({ ...request, asset: 'ETH', network: 'ethereum', address: EVM_ADDRESS })).toBeNull();
  });
});

describe('what a wallet signs', () => {
  const CONTRACT = '0xc2132D05D31c914a87C6611C10748AEb04B58e8F';
  const ether = { ...request, asset: 'ETH', network: 'base', address: EVM_ADDRESS } as const;
  const token = { ...request, asset: 'USDT', network: 'polygon', address: EVM_ADDRESS } as const;

  it('is the value itself for ether, to the one who is paid', () => {
    const evm = { chainId: 8453, contract: null };
    expect(evmTransfer({ ...ether, units: 7n, evm })).toEqual({
      chainId: 8453,
      to: EVM_ADDRESS,
      value: 7n,
      data: '0x',
    });
  });

  it('is a call of transfer(address,uint256) of a token’s contract, and moves no ether', () => {
    const evm = { chainId: 137, contract: CONTRACT };
    expect(evmTransfer({ ...token, units: 0xabcn, evm })).toEqual({
      chainId: 137,
      to: CONTRACT,
      value: 0n,
      // Solidity's ABI: the selector, and two words of 32 bytes.
      data: `0xa9059cbb${'0'.repeat(24)}71c7656ec7ab88b098defb751b7401b5f6d8976f${'0'.repeat(61)}abc`,
    });
  });

  it('is nothing where the chain or the contract is not known', () => {
    expect(evmTransfer(ether)).toBeNull();
    expect(evmTransfer({ ...token, evm: { chainId: 137, contract: null } })).toBeNull();
    expect(paymentUri({ ...token, evm: { chainId: 137, contract: null } })).toBeNull();
  });
});
