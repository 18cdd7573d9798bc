import { HDKey } from '@scure/bip32';
import { expect, it, onTestFinished } from 'vitest';
import { createAddressThread } from './address-thread.ts';
import { derivingWith, type DeriveAddresses } from './derive-addresses.ts';
import type { WalletSource } from './family.ts';
import { MAIN_CHAINS } from './utxo/params.ts';
import { createWalletOpener } from './wallet.ts';

const ACCOUNT = HDKey.fromMasterSeed(new Uint8Array(32).fill(3)).derive("m/84'/0'/0'").publicExtendedKey;
const WALLET: WalletSource = { kind: 'descriptor', text: `wpkh(${ACCOUNT}/0/*)` };

function startThread() {
  const thread = createAddressThread(MAIN_CHAINS);
  onTestFinished(() => thread.stop());
  return thread;
}

it('a thread derives what this one would, each request what was asked', async () => {
  const { derive } = startThread();
  const here = derivingWith(createWalletOpener(MAIN_CHAINS));
  const three = (from: DeriveAddresses) =>
    Promise.all([
      from('bitcoin', WALLET, 0, 3),
      from('bitcoin', WALLET, 2 ** 31 - 2, 2),
      from('bitcoin', WALLET, 7, 0),
    ]);
  expect(await three(derive)).toEqual(await three(here));
});

it('a wallet that cannot be read has no addresses, and indexes beyond the last are refused', async () => {
  const { derive } = startThread();
  expect(await derive('bitcoin', { kind: 'descriptor', text: 'wpkh()' }, 0, 1)).toBeNull();
  await expect(derive('bitcoin', WALLET, 2 ** 31 - 1, 2)).rejects.toThrow(RangeError);
});

it('requests fail when their thread ends, and the next one starts it again', async () => {
  const { derive, stop } = startThread();
  const interrupted = derive('bitcoin', WALLET, 0, 100_000).catch((error: unknown) => error);
  await stop();
  expect(await interrupted).toMatchObject({ message: expect.stringContaining('thread that derives addresses ended') });
  expect(await derive('bitcoin', WALLET, 0, 1)).toHaveLength(1);
});
