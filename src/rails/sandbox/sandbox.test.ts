import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { NETWORKS } from '../../domain/networks.ts';
import { checkPayoutAddress } from '../address.ts';
import { sandboxAddress, sandboxTransactionHash } from './sandbox.ts';

const network = fc.constantFrom(...NETWORKS);
const seed = fc.string();

it('a sandbox address passes the checks of its network, as an address of a test network where there are such', () => {
  fc.assert(
    fc.property(network, seed, (network, seed) => {
      const address = sandboxAddress(network, seed);
      expect(checkPayoutAddress(network, address, 'any')).toEqual({ kind: 'ok', address });
      const isUtxo = network === 'bitcoin' || network === 'litecoin';
      expect(checkPayoutAddress(network, address, 'main').kind).toBe(isUtxo ? 'invalid' : 'ok');
    }),
  );
  expect(sandboxAddress('bitcoin', 'a')).toMatch(/^tb1q[a-z0-9]{38}$/);
  expect(sandboxAddress('litecoin', 'a')).toMatch(/^tltc1q[a-z0-9]{38}$/);
});

it('a sandbox transaction hash has the form of its network', () => {
  fc.assert(
    fc.property(network, seed, (network, seed) => {
      const form = network === 'bitcoin' || network === 'litecoin' ? /^[0-9a-f]{64}$/ : /^0x[0-9a-f]{64}$/;
      expect(sandboxTransactionHash(network, seed)).toMatch(form);
    }),
  );
});

it('the same seed gives the same address and hash, another seed or network another', () => {
  expect(sandboxAddress('ethereum', 'a')).toBe(sandboxAddress('ethereum', 'a'));
  expect(sandboxTransactionHash('bitcoin', 'a')).toBe(sandboxTransactionHash('bitcoin', 'a'));
  const addresses = ['a', 'b', 'c'].flatMap((seed) => [sandboxAddress('ethereum', seed), sandboxAddress('base', seed)]);
  expect(new Set(addresses).size).toBe(6);
});
