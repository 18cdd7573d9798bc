import { createHmac, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { HDKey } from '@scure/bip32';
import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { utxoNodeKindsFor } from '../litecoind.ts';
import { CONFIRMATIONS, openShop, OWED, POLL, type UtxoShop } from './live-utxo.fixture.ts';

const PASSWORD = randomBytes(16).toString('hex');

/** The methods that the guide lets operators allow, as they are written there. */
async function listedMethods(): Promise<string> {
  const guide = await readFile(path.join(import.meta.dirname, '../../docs/guide/go-live.md'), 'utf8');
  const [, methods] = /^ *rpcwhitelist=cointill:([a-z,]+)$/m.exec(guide) ?? [];
  if (methods === undefined) throw new Error('The guide lists no methods for rpcwhitelist.');
  return methods;
}

/** A user of the node who may call these methods and no others; the tests' own user may call all. */
function restrictedUser(methods: string): readonly string[] {
  const salt = randomBytes(16).toString('hex');
  const hash = createHmac('sha256', salt).update(PASSWORD).digest('hex');
  return [`-rpcauth=cointill:${salt}$${hash}`, `-rpcwhitelist=cointill:${methods}`, '-rpcwhitelistdefault=0'];
}

describe.each(utxoNodeKindsFor(import.meta.url))(
  'a wallet on a %s node that allows the listed methods alone',
  (kind) => {
    let shop: UtxoShop;
    beforeAll(async () => {
      shop = await openShop({
        kind,
        nodeOptions: restrictedUser(await listedMethods()),
        urls: (node) => `http://cointill:${PASSWORD}@127.0.0.1:${node.port}/`,
      });
    });
    afterAll(() => shop?.close());

    it('refuses what is not listed', async () => {
      const { status } = await fetch(`http://127.0.0.1:${shop.node.port}/`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`cointill:${PASSWORD}`).toString('base64')}` },
        body: JSON.stringify({ id: 1, method: 'stop', params: [] }),
      });
      expect(status).toBe(403);
      const ready = async (): Promise<unknown> => (await fetch(`${shop.baseUrl}/readyz`)).json();
      await expect.poll(ready, POLL).toMatchObject({ checks: { [kind]: 'ok' } });
    });

    it('given again with its origin and change chain gets PSBTs for refunds of earlier payments, and continues its addresses', async () => {
      const master = HDKey.fromMasterSeed(randomBytes(32), { private: 0x04358394, public: 0x043587cf });
      const key = master.derive("m/84'/1'/0'").publicExtendedKey;
      const set = async (descriptor: string): Promise<object> =>
        Object(
          await shop.command(
            `wallet set --project ${shop.project} --network ${kind} --confirmations ${CONFIRMATIONS} --first-index 7 --descriptor ${descriptor}`,
          ),
        );
      const fingerprint = master.fingerprint.toString(16).padStart(8, '0');

      expect(await set(`wpkh(${key}/0/*)`)).toMatchObject({
        next_index: 7,
        warnings: [expect.stringContaining('will not sign'), expect.stringContaining('keeps its change')],
      });
      const order = await shop.order();
      const [at7] = Object(await shop.command(`wallet check --project ${shop.project} --network ${kind} --count 8`))
        .addresses.slice(7)
        .map(({ address }: { readonly address: string }) => address);
      expect(order.address).toBe(at7);
      await shop.pay([[order.address, OWED]]);
      await shop.node.mine(CONFIRMATIONS);
      await shop.becomes(order.id, { status: 'completed' });
      const address = await shop.node.newAddress();
      const { body } = await shop.api('/v1/refunds', { order_id: order.id, address, crypto_amount: 0.1 });
      const show = async (): Promise<object> => Object(await shop.command(`refund show ${textAt(body, 'id')}`));
      // Not before what waits in the mempool was compared with it.
      await expect.poll(show, POLL).toMatchObject({ psbt: null, psbt_problem: expect.stringContaining('/<0;1>/*') });

      expect(await set(`wpkh([${fingerprint}/84h/1h/0h]${key}/<0;1>/*)`)).toMatchObject({
        next_index: 8,
        changes: [
          expect.stringContaining('This is the same wallet in another form'),
          expect.stringContaining('still number 8'),
        ],
        warnings: [],
      });
      const shown = await show();
      expect(shown).toMatchObject({ psbt_problem: null });
      const psbt = Transaction.fromPSBT(Buffer.from(textAt(shown, 'psbt'), 'base64'));
      expect(psbt.getInput(0).bip32Derivation).toMatchObject([
        [expect.anything(), { fingerprint: master.fingerprint }],
      ]);
      const [, { address: at8 }] = Object(
        await shop.command(`wallet check --project ${shop.project} --network ${kind} --count 9`),
      ).addresses.slice(7);
      expect((await shop.order()).address).toBe(at8);
    });
  },
);
