import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { p2wpkh, Transaction, WIF } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program, textAt } from '../../src/cli/program.fixture.ts';
import { encodeId } from '../../src/domain/id.ts';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../anvil.ts';
import { deployToken, type TestToken } from '../erc20.ts';
import { startUtxoNode, utxoNodeKindsFor, type UtxoNode } from '../litecoind.ts';
import {
  liveService,
  mined,
  owedUnits,
  SOON,
  type Fields,
  type LiveService,
  type Order,
  type Shop,
} from './live-evm.fixture.ts';
import { CONFIRMATIONS, openShop, OWED, OWED_COINS, POLL, type LiveOrder, type UtxoShop } from './live-utxo.fixture.ts';

/** The output for a refund that must not be paid, or not yet: somebody would pay it if there were instructions. */
const NOTHING_TO_SIGN = { payment_uri: null, call: null, psbt: null, psbt_fee: null, psbt_problem: null };

const UNKNOWN_REFUND = encodeId('refund', '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b');

/** The customer says on the claim page where the money is to go. */
async function claim(url: string, address: string): Promise<void> {
  const { status } = await fetch(url, { method: 'POST', body: new URLSearchParams({ address }), redirect: 'manual' });
  expect(status).toBe(303);
}

describe('what to sign for a refund on an EVM chain', () => {
  let anvil: Anvil;
  let usdt: TestToken;
  let service: LiveService;
  let shop: Shop;
  beforeAll(async () => {
    anvil = await startAnvil();
    usdt = await deployToken(anvil, 'no_return');
    service = await liveService({ ETHEREUM_RPC_URL: anvil.url, ETHEREUM_TOKENS: `USDT=${usdt.address}:6` });
    await service.start();
    shop = await service.shop(`--network ethereum --confirmations 2 --treasury ${freshAddress()}`);
  });
  afterAll(async () => {
    await service?.close();
    await anvil?.stop();
  });

  function freshAddress(): string {
    return `0x${randomBytes(20).toString('hex')}`;
  }

  async function refundOf(asset: 'ETH' | 'USDT', fields: Fields): Promise<Fields & { readonly id: string }> {
    const order = await shop.order({ crypto_currency: asset });
    await mined(anvil, pay(asset, order));
    await anvil.mine(1);
    await shop.becomes(order, { status: 'completed' });
    const { status, body } = await shop.call('/v1/refunds', { order_id: order.id, ...fields });
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'pending' } });
    return { ...body, id: textAt(body, 'id') };
  }

  function pay(asset: 'ETH' | 'USDT', order: Order): Promise<string> {
    return asset === 'ETH'
      ? anvil.transfer(order.address, owedUnits(order))
      : usdt.transfer(order.address, owedUnits(order, 6));
  }

  async function show(id: string): Promise<Fields> {
    return Object(await service.command(`refund show ${id}`));
  }

  /** The command as a person sees it. */
  function run(...args: readonly string[]) {
    return program({
      DATABASE_URL: service.database.url,
      ETHEREUM_RPC_URL: anvil.url,
      ETHEREUM_CHAIN_ID: '31337',
      ETHEREUM_TOKENS: `USDT=${usdt.address}:6`,
    }).then((cointill) => cointill.run('refund', 'show', ...args));
  }

  /** Sends the shown call as it is, with nothing added but who sends it. */
  function send(shown: Fields): Promise<string> {
    const call: unknown = shown['call'];
    const value = `0x${BigInt(textAt(call, 'value')).toString(16)}`;
    const transaction = { from: ANVIL_ACCOUNT, to: textAt(call, 'to'), value, data: textAt(call, 'data') };
    return mined(anvil, anvil.rpc('eth_sendTransaction', [transaction]).then(String));
  }

  it.each([
    ['ETH', 0.005],
    ['USDT', 12.5],
  ] as const)(
    'in %s is a payment URI and a call; sent exactly so it completes the refund, and nothing is left to sign',
    async (asset, coins) => {
      const address = freshAddress();
      const { id } = await refundOf(asset, { address, crypto_amount: coins });
      const shown = await show(id);
      const [uri, to, value] =
        asset === 'ETH'
          ? [`ethereum:${address}@31337?value=5000000000000000`, address, '5000000000000000']
          : [`ethereum:${usdt.address}@31337/transfer?address=${address}&uint256=12500000`, usdt.address, '0'];
      // The case of an address's letters is only its checksum.
      expect(textAt(shown, 'payment_uri').toLowerCase()).toBe(uri.toLowerCase());
      expect(shown['call']).toMatchObject({ chain_id: 31337, to: expect.stringMatching(new RegExp(to, 'i')), value });
      expect(shown).toMatchObject({ id, status: 'pending', crypto_amount: coins, psbt: null, psbt_problem: null });
      const { stdout } = await run(id);
      expect(stdout).toContain(`Send exactly ${coins} ${asset}`);
      for (const part of [textAt(shown, 'payment_uri'), textAt(shown['call'], 'data'), '31337', `${value} wei`])
        expect(stdout).toContain(part);

      const hash = await send(shown);
      await anvil.mine(1);
      const read = async (): Promise<Fields> => (await shop.call(`/v1/refunds/${id}`)).body;
      await expect.poll(read, SOON).toMatchObject({ status: 'completed', transaction_hash: hash });

      expect(await show(id)).toMatchObject({ status: 'completed', transaction_hash: hash, ...NOTHING_TO_SIGN });
      const finished = await run(id);
      expect(finished.stdout).toContain(hash);
      expect(finished.stdout).not.toMatch(/Send exactly|Payment URI|Data/);
    },
  );

  it('is nothing before the customer has said where to, which it says; and the call once he has', async () => {
    const { id, claim_url } = await refundOf('ETH', {});
    expect(await show(id)).toMatchObject({ status: 'pending', address: null, claim_url, ...NOTHING_TO_SIGN });
    const { code, stdout } = await run(id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^To +not known yet, because the customer has to enter an address on the claim page$/m);
    expect(stdout).not.toMatch(/Send exactly|Payment URI|Data/);

    const address = freshAddress();
    await claim(String(claim_url), address);
    const hash = await send(await show(id));
    expect(await anvil.rpc('eth_getTransactionByHash', [hash])).toMatchObject({ to: address });
  });

  it('is nothing for a refund that was cancelled', async () => {
    const { id } = await refundOf('USDT', { address: freshAddress() });
    // Refused until the newest blocks have been read, which takes a busy machine a moment longer.
    await expect.poll(() => shop.call(`/v1/refunds/${id}/cancel`, {}), SOON).toMatchObject({ status: 200 });
    expect(await show(id)).toMatchObject({ status: 'failed', failure_reason: 'cancelled', ...NOTHING_TO_SIGN });
    const { stdout } = await run(id);
    expect(stdout).toContain('failed (cancelled)');
    expect(stdout).not.toMatch(/Send exactly|Payment URI|Data/);
  });

  it.each([
    ['that is unknown', UNKNOWN_REFUND, 1, /There is no (such )?refund/],
    ['that is none', 'nonsense', 2, /id of a refund is re_/],
  ])('is refused with a message and its exit code for an id %s', async (_name, id, exitCode, message) => {
    for (const args of [[id], [id, '--json']]) {
      const { code, stdout, stderr } = await run(...args);
      expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/ {4}at |LOG_LEVEL/);
    }
  });
});

describe.each(utxoNodeKindsFor(import.meta.url))('what to sign for a refund on a real %s node', (kind) => {
  let shop: UtxoShop;
  beforeAll(async () => {
    shop = await openShop({ kind });
  });
  afterAll(() => shop?.close());

  /** Version bytes of `vpub`, which stands for P2WPKH on test chains (SLIP-132), and of its private half. */
  const VPUB = { public: 0x045f1cf6, private: 0x045f18bc };
  const TPUB = { public: 0x043587cf, private: 0x04358394 };
  const ACCOUNT = "84'/1'/0'";

  /** The merchant's keys, and his wallet with its change chain, as he gives it. */
  function merchant(form: 'descriptor' | 'xpub') {
    const master = HDKey.fromMasterSeed(randomBytes(32), form === 'xpub' ? VPUB : TPUB);
    const account = master.derive(`m/${ACCOUNT}`);
    const origin = `${master.fingerprint.toString(16).padStart(8, '0')}/${ACCOUNT}`;
    return form === 'xpub'
      ? { root: account, wallet: `--xpub ${account.publicExtendedKey}` }
      : { root: master, wallet: `--descriptor wpkh([${origin}]${account.publicExtendedKey}/<0;1>/*)` };
  }

  async function setWallet(wallet: string): Promise<void> {
    const set = `wallet set --project ${shop.project} --network ${kind} --confirmations ${CONFIRMATIONS} ${wallet}`;
    await shop.command(set);
  }

  async function paidOrder(): Promise<LiveOrder> {
    const order = await shop.order();
    await shop.pay([[order.address, OWED]]);
    await shop.node.mine(CONFIRMATIONS);
    await shop.becomes(order.id, { status: 'completed' });
    return order;
  }

  async function refundOf(
    order: LiveOrder,
    fields: Fields,
  ): Promise<{ readonly id: string; readonly read: () => Promise<Fields> }> {
    const { status, body } = await shop.api('/v1/refunds', { order_id: order.id, ...fields });
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'pending' } });
    const id = textAt(body, 'id');
    return { id, read: async () => (await shop.api(`/v1/refunds/${id}`)).body };
  }

  /** The refund, once what waits in the mempool was compared with it. */
  async function show(id: string): Promise<Fields> {
    let shown: Fields = {};
    const problem = async (): Promise<unknown> => {
      shown = Object(await shop.command(`refund show ${id}`));
      return shown['psbt_problem'];
    };
    await expect.poll(problem, POLL).not.toEqual(expect.stringMatching(/has not checked|have not been read/));
    return shown;
  }

  function privateKeyAt(root: HDKey, path: readonly number[]): Uint8Array {
    const { privateKey } = path.reduce((key, step) => key.deriveChild(step), root);
    if (privateKey === null) throw new Error('a key without its private half');
    return privateKey;
  }

  /** Where the merchant's wallet finds the keys of an input or output, by what the PSBT says of it. */
  function pathsIn(
    { bip32Derivation = [] }: Pick<ReturnType<Transaction['getInput']>, 'bip32Derivation'>,
    root: HDKey,
  ): readonly (readonly number[])[] {
    expect(bip32Derivation).toHaveLength(1);
    return bip32Derivation.map(([, { fingerprint, path }]) => {
      expect(fingerprint).toBe(root.fingerprint);
      return path;
    });
  }

  function readPsbt(shown: Fields): Transaction {
    return Transaction.fromPSBT(Buffer.from(textAt(shown, 'psbt'), 'base64'));
  }

  it.each(['descriptor', 'xpub'] as const)(
    'is a PSBT that the keys of a wallet given as %s sign; broadcast it completes the refund, and nothing is left to sign',
    async (form) => {
      const { root, wallet } = merchant(form);
      await setWallet(wallet);
      const address = await shop.node.newAddress();
      const refund = await refundOf(await paidOrder(), { address, crypto_amount: 0.12345678 });
      const shown = await show(refund.id);
      expect(shown).toMatchObject({
        payment_uri: `${kind}:${address}?amount=0.12345678`,
        call: null,
        psbt_problem: null,
      });

      const transaction = readPsbt(shown);
      for (let place = 0; place < transaction.inputsLength; place += 1) {
        for (const path of pathsIn(transaction.getInput(place), root))
          expect(transaction.signIdx(privateKeyAt(root, path), place)).toBe(true);
      }
      transaction.finalize();
      expect(Number(transaction.fee)).toBe(Math.round(Number(shown['psbt_fee']) * 1e8));
      const change = transaction.getOutput(1);
      expect(change.amount).toBe(OWED - 12_345_678n - transaction.fee);
      // The rest comes back to an address of the wallet's change chain.
      const [changePath = []] = pathsIn(change, root);
      expect(changePath.at(-2)).toBe(1);
      const { publicKey } = changePath.reduce((key, step) => key.deriveChild(step), root);
      expect(change.script).toEqual(p2wpkh(publicKey ?? new Uint8Array()).script);

      expect(await shop.node.rpc('sendrawtransaction', [transaction.hex])).toBe(transaction.id);
      await shop.node.mine(CONFIRMATIONS);
      const done = { status: 'completed', transaction_hash: transaction.id };
      await expect.poll(refund.read, POLL).toMatchObject(done);
      expect(await show(refund.id)).toMatchObject({ ...done, ...NOTHING_TO_SIGN });
    },
  );

  // Bitcoin Core's own wallets no longer import single keys.
  it.runIf(kind === 'litecoin')(
    "is a PSBT that a node's own wallet, on a machine that knows no chain, signs",
    async () => {
      const { root, wallet } = merchant('descriptor');
      await setWallet(wallet);
      const refund = await refundOf(await paidOrder(), { address: await shop.node.newAddress(), crypto_amount: 0.2 });
      const shown = await show(refund.id);
      const offline: UtxoNode = await startUtxoNode({ kind });
      try {
        const [path = []] = pathsIn(readPsbt(shown).getInput(0), root);
        const testWif = { bech32: '', pubKeyHash: 0, scriptHash: 0, wif: 0xef };
        await offline.rpc('importprivkey', [WIF(testWif).encode(privateKeyAt(root, path)), '', false]);
        const signed = await offline.rpc('walletprocesspsbt', [textAt(shown, 'psbt')]);
        expect(signed).toMatchObject({ complete: true });
        const final = await offline.rpc('finalizepsbt', [textAt(signed, 'psbt')]);
        const hash = String(await shop.node.rpc('sendrawtransaction', [textAt(final, 'hex')]));
        await shop.node.mine(CONFIRMATIONS);
        await expect.poll(refund.read, POLL).toMatchObject({ status: 'completed', transaction_hash: hash });
      } finally {
        await offline.stop();
      }
    },
  );

  it('says why there is no PSBT for a wallet without its change chain; its payment URI, paid, completes the refund', async () => {
    await shop.setWallet(CONFIRMATIONS);
    const address = await shop.node.newAddress();
    const refund = await refundOf(await paidOrder(), { address });
    const shown = await show(refund.id);
    expect(shown).toMatchObject({
      psbt: null,
      psbt_fee: null,
      psbt_problem: expect.stringMatching(/change.*payment URI/),
    });
    const [scheme, payee = '', amount = ''] = textAt(shown, 'payment_uri').split(/:|\?amount=/);
    expect([scheme, payee, amount]).toEqual([kind, address, String(OWED_COINS)]);
    const hash = await shop.node.send(payee, amount);
    await shop.node.mine(CONFIRMATIONS);
    await expect.poll(refund.read, POLL).toMatchObject({ status: 'completed', transaction_hash: hash });
  });

  it('gets its change at the first number of the change chain, is the same each time, and is nothing once it was sent', async () => {
    const { root, wallet } = merchant('descriptor');
    await setWallet(wallet);
    for (let unpaid = 0; unpaid < 3; unpaid += 1) await shop.order();
    const refund = await refundOf(await paidOrder(), { address: await shop.node.newAddress(), crypto_amount: 0.1 });
    const shown = await show(refund.id);
    expect(shown).toMatchObject({ psbt_problem: null, psbt_warnings: [] });
    const transaction = readPsbt(shown);
    const [changePath = []] = pathsIn(transaction.getOutput(1), root);
    expect(changePath.slice(-2)).toEqual([1, 0]);
    expect(await show(refund.id)).toMatchObject({ psbt: shown['psbt'] });
    const [path = []] = pathsIn(transaction.getInput(0), root);
    transaction.signIdx(privateKeyAt(root, path), 0);
    transaction.finalize();
    await shop.node.rpc('sendrawtransaction', [transaction.hex]);
    const waits: unknown = expect.stringContaining('waiting to be mined');
    expect(await show(refund.id)).toMatchObject({ ...NOTHING_TO_SIGN, psbt_problem: waits });
    await shop.node.mine(1);
    const seen = async (): Promise<unknown> => (await show(refund.id))['psbt_problem'];
    await expect.poll(seen, POLL).toMatch(`paid by ${transaction.id}`);
    await shop.node.mine(CONFIRMATIONS - 1);
    await expect.poll(refund.read, POLL).toMatchObject({ status: 'completed', transaction_hash: transaction.id });
  });

  it("says when a miner's reward can be spent that completed its order", async () => {
    await setWallet(merchant('descriptor').wallet);
    const order = await shop.order();
    await shop.node.mine(1, order.address);
    await shop.node.mine(CONFIRMATIONS - 1);
    await shop.becomes(order.id, { status: 'completed' });
    const refund = await refundOf(order, { address: await shop.node.newAddress(), crypto_amount: 0.1 });
    const young: unknown = expect.stringMatching(/cannot be spent yet\. .* again in 97 blocks/);
    expect(await show(refund.id)).toMatchObject({ psbt: null, psbt_fee: null, psbt_problem: young });
  });

  it('goes to no address of another chain, be it given by the merchant or on the claim page', async () => {
    await setWallet(merchant('descriptor').wallet);
    const order = await paidOrder();
    const others = {
      bitcoin: ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
      litecoin: ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1'],
    }[kind];
    for (const address of others) {
      const { status, body } = await shop.api('/v1/refunds', { order_id: order.id, address });
      const error: unknown = expect.objectContaining({ param: 'address', message: expect.stringMatching(/"regtest"/) });
      expect({ status, body }).toMatchObject({ status: 400, body: { error } });
    }
    const refund = await refundOf(order, {});
    for (const address of others) {
      const url = `${shop.baseUrl}/refund/${refund.id}`;
      const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ address }), redirect: 'manual' });
      expect(answer.status).not.toBe(303);
      expect(await answer.text()).toContain('id="address-problem"');
    }
    expect(await refund.read()).toMatchObject({ address: null });
  });

  it('is nothing before the customer has said where to', async () => {
    await setWallet(merchant('descriptor').wallet);
    const refund = await refundOf(await paidOrder(), {});
    expect(await show(refund.id)).toMatchObject({ status: 'pending', address: null, ...NOTHING_TO_SIGN });
    const address = await shop.node.newAddress();
    await claim(`${shop.baseUrl}/refund/${refund.id}`, address);
    const paymentUri = `${kind}:${address}?amount=${OWED_COINS}`;
    // The refund takes all that the wallet has received, so the fee has to come from elsewhere.
    const psbtProblem: unknown = expect.stringMatching(/ fall 0\.0.* short of the refund.*payment URI/);
    expect(await show(refund.id)).toMatchObject({ address, payment_uri: paymentUri, psbt_problem: psbtProblem });
  });
});
