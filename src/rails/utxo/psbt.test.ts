import { RawTx, Transaction } from '@scure/btc-signer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scriptOfAddress, type WalletOutput } from './output.ts';
import { buildRefundPsbt, type RefundInput, type RefundPsbt, type RefundPsbtRequest } from './psbt.ts';
import { dustUnits } from './transaction-size.ts';
import { paramsOf, publicKeyAt, signAll, walletOf } from './wallet.fixture.ts';
import type { UtxoDeriver } from './wallet.ts';

const bitcoin = paramsOf('bitcoin', 'main');

function keyAt(path: string): string {
  return `[73c5da0a${path.slice(1)}]${publicKeyAt(path, 'xpub')}/<0;1>/*`;
}

/** One wallet of each kind, all of the published phrase. */
const WALLETS: Readonly<Record<WalletOutput['scriptType'], UtxoDeriver>> = {
  p2pkh: walletOf(bitcoin, 'descriptor', `pkh(${keyAt("m/44'/0'/0'")})`).deriver,
  'p2sh-p2wpkh': walletOf(bitcoin, 'descriptor', `sh(wpkh(${keyAt("m/49'/0'/0'")}))`).deriver,
  p2wpkh: walletOf(bitcoin, 'descriptor', `wpkh(${keyAt("m/84'/0'/0'")})`).deriver,
  p2tr: walletOf(bitcoin, 'descriptor', `tr(${keyAt("m/86'/0'/0'")})`).deriver,
  p2wsh: walletOf(
    bitcoin,
    'descriptor',
    `wsh(sortedmulti(2,${["m/48'/0'/0'/2'", "m/48'/0'/1'/2'", "m/48'/0'/2'/2'"].map(keyAt).join(',')}))`,
  ).deriver,
};
const KINDS = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr', 'p2wsh'] as const;

/** The customer's: of the published vectors of BIP 173, BIP 350 and BIP 49, and of the genesis block. */
const CUSTOMERS = {
  wpkh: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  tr: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  sh: '37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf',
  pkh: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
};

/** A transaction that pays `units` to an output of one of the wallets, from nowhere. */
function received(kind: WalletOutput['scriptType'], index: number, units: bigint): RefundInput {
  const output = WALLETS[kind].outputAt(index);
  const raw = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [{ txid: new Uint8Array(32), index, finalScriptSig: new Uint8Array([0x51]), sequence: 0 }],
    outputs: [
      { amount: 1n, script: scriptOfAddress(bitcoin, CUSTOMERS.wpkh) },
      { amount: units, script: output.script },
    ],
    witnesses: undefined,
    lockTime: 0,
  });
  const txid = Transaction.fromRaw(raw, { allowUnknownInputs: true }).id;
  return { txid, vout: 1, amountUnits: units, output, rawTransaction: Buffer.from(raw).toString('hex') };
}

function request(over: Partial<RefundPsbtRequest>): RefundPsbtRequest {
  return {
    params: bitcoin,
    inputs: [received('p2wpkh', 0, 100_000n)],
    payTo: [{ address: CUSTOMERS.wpkh, units: 60_000n }],
    change: WALLETS.p2wpkh.outputAt(9),
    feeUnitsPerKvb: 10_000n,
    ...over,
  };
}

type Built = Extract<RefundPsbt, { kind: 'ok' }>;

function built(result: RefundPsbt): Built {
  if (result.kind !== 'ok') throw new Error(result.message.code);
  return result;
}

function read({ psbt }: Built): Transaction {
  return Transaction.fromPSBT(Buffer.from(psbt, 'base64'));
}

/** Signs like the merchant's wallet. */
function signed(result: Built): Transaction {
  const transaction = read(result);
  signAll(transaction);
  transaction.finalize();
  return transaction;
}

describe('a PSBT for a refund', () => {
  it('pays the customer exactly and the rest, less the fee, back to the wallet', () => {
    const change = WALLETS.p2wpkh.changeAt(0) ?? WALLETS.p2wpkh.outputAt(9);
    const result = built(buildRefundPsbt(request({ change })));
    const transaction = read(result);
    expect(transaction.outputsLength).toBe(2);
    expect(transaction.getOutputAddress(0)).toBe(CUSTOMERS.wpkh);
    expect(transaction.getOutput(0).amount).toBe(60_000n);
    expect(transaction.getOutputAddress(1)).toBe(change.address);
    expect(transaction.getOutput(1).amount).toBe(result.changeUnits);
    expect(transaction.fee).toBe(result.feeUnits);
    // A transaction of one P2WPKH input and two P2WPKH outputs has 141 virtual bytes.
    expect(result).toMatchObject({ feeUnits: 1_410n, changeUnits: 38_590n });
  });

  it('can have its fee raised later, and shows hardware wallets that the change is their own', () => {
    const transaction = read(built(buildRefundPsbt(request({}))));
    expect(transaction.getInput(0).sequence).toBe(0xfffffffd);
    const path = [2 ** 31 + 84, 2 ** 31, 2 ** 31, 0, 9];
    expect(transaction.getOutput(0).bip32Derivation).toBeUndefined();
    expect(transaction.getOutput(1).bip32Derivation).toMatchObject([
      [expect.anything(), { fingerprint: 0x73c5da0a, path }],
    ]);
    expect(transaction.getInput(0).nonWitnessUtxo).toBeDefined();
  });

  it.each(KINDS)('can be signed by the wallet, and then pays at least the asked rate and hardly more: %s', (kind) => {
    const inputs = [0, 1, 2].map((index) => received(kind, index, 50_000n));
    for (const address of Object.values(CUSTOMERS)) {
      const payTo = [{ address, units: 110_000n }];
      const result = built(buildRefundPsbt(request({ inputs, payTo, change: WALLETS[kind].outputAt(9) })));
      const transaction = signed(result);
      expect(transaction.inputsLength).toBe(3);
      expect(transaction.fee).toBe(result.feeUnits);
      const rate = Number(result.feeUnits) / transaction.vsize;
      expect(rate).toBeGreaterThanOrEqual(10);
      expect(rate).toBeLessThan(10.2);
    }
  });

  it('spends inputs of several kinds at once', () => {
    const inputs = KINDS.map((kind) => received(kind, 0, 30_000n));
    const transaction = signed(
      built(buildRefundPsbt(request({ inputs, payTo: [{ address: CUSTOMERS.tr, units: 130_000n }] }))),
    );
    expect(transaction.inputsLength).toBe(5);
    expect(transaction.isFinal).toBe(true);
  });

  it('adds to the fee what would be dust as change, and is short by exactly what is missing', () => {
    // 110 virtual bytes without change, 141 with; 294 satoshi is the dust of P2WPKH.
    const atRate = (units: bigint) => buildRefundPsbt(request({ inputs: [received('p2wpkh', 0, 60_000n + units)] }));
    expect(atRate(1_410n + 294n)).toMatchObject({ kind: 'ok', feeUnits: 1_410n, changeUnits: 294n });
    expect(atRate(1_410n + 293n)).toMatchObject({ kind: 'ok', feeUnits: 1_703n, changeUnits: 0n });
    expect(atRate(1_100n)).toMatchObject({ kind: 'ok', feeUnits: 1_100n, changeUnits: 0n });
    expect(atRate(1_099n)).toMatchObject({ kind: 'short', missingUnits: 1n });
    expect(atRate(0n)).toMatchObject({ kind: 'short', missingUnits: 1_100n });
    const nothing = buildRefundPsbt(request({ inputs: [] }));
    expect(nothing).toMatchObject({ kind: 'short', message: { code: 'outputs_short', values: { asset: 'BTC' } } });
  });

  it('neither makes nor loses money, whatever the amounts and the rate', () => {
    const amount = fc.bigInt({ min: 500n, max: 200_000n });
    const kind = fc.constantFrom(...KINDS);
    const inputs = fc.array(fc.tuple(kind, amount), { minLength: 1, maxLength: 4 });
    const pays = fc.bigInt({ min: 546n, max: 300_000n });
    fc.assert(
      fc.property(
        inputs,
        pays,
        fc.bigInt({ min: 0n, max: 100_000n }),
        kind,
        (given, units, feeUnitsPerKvb, changeKind) => {
          const inputs = given.map(([kind, amountUnits], index) => received(kind, index, amountUnits));
          const change = WALLETS[changeKind].outputAt(50);
          const asked = request({ inputs, payTo: [{ address: CUSTOMERS.pkh, units }], change, feeUnitsPerKvb });
          const result = buildRefundPsbt(asked);
          if (result.kind !== 'ok') return result.kind === 'short';
          const spent = inputs.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
          expect(spent).toBe(units + result.changeUnits + result.feeUnits);
          expect(result.changeUnits === 0n || result.changeUnits >= dustUnits('bitcoin', change.script)).toBe(true);
          const transaction = signed(result);
          expect(transaction.getOutput(0).amount).toBe(units);
          expect(result.feeUnits * 1_000n).toBeGreaterThanOrEqual(BigInt(transaction.vsize) * feeUnitsPerKvb);
          return true;
        },
      ),
      { numRuns: 60 },
    );
  });

  it('exactly covers a shortage once the missing units are there', () => {
    const pays = fc.bigInt({ min: 60_000n, max: 500_000n });
    fc.assert(
      fc.property(
        fc.constantFrom(...KINDS),
        pays,
        fc.bigInt({ min: 1n, max: 50_000n }),
        (kind, units, feeUnitsPerKvb) => {
          const asked = { payTo: [{ address: CUSTOMERS.sh, units }], feeUnitsPerKvb };
          const attempt = (amount: bigint) =>
            buildRefundPsbt(request({ ...asked, inputs: [received(kind, 0, amount)] }));
          const short = attempt(50_000n);
          if (short.kind !== 'short') throw new Error('it should be short');
          expect(attempt(50_000n + short.missingUnits)).toMatchObject({ kind: 'ok', changeUnits: 0n });
          expect(attempt(50_000n + short.missingUnits - 1n)).toMatchObject({ kind: 'short', missingUnits: 1n });
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('a refund that cannot be paid', () => {
  it.each([
    ['bitcoin', CUSTOMERS.wpkh, 294n],
    ['bitcoin', CUSTOMERS.tr, 330n],
    ['bitcoin', CUSTOMERS.sh, 540n],
    ['bitcoin', CUSTOMERS.pkh, 546n],
    ['litecoin', 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh', 2_940n],
    ['litecoin', 'M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM', 5_400n],
    ['litecoin', 'LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez', 5_460n],
  ] as const)("is below the nodes' own dust limit: %s %s", (network, address, least) => {
    const params = paramsOf(network, 'main');
    const pay = (units: bigint) => buildRefundPsbt(request({ params, payTo: [{ address, units }] }));
    expect(pay(least - 1n)).toMatchObject({ kind: 'dust', dustUnits: least });
    expect(pay(least).kind).toBe('ok');
  });

  it('goes to an address of another network or chain', () => {
    for (const address of [
      'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh',
      '2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2',
      'nonsense',
    ]) {
      expect(() => buildRefundPsbt(request({ payTo: [{ address, units: 60_000n }] }))).toThrow(
        'not an address of bitcoin main',
      );
    }
  });

  it('pays nothing', () => {
    expect(() => buildRefundPsbt(request({ payTo: [{ address: CUSTOMERS.pkh, units: 0n }] }))).toThrow(RangeError);
  });

  it('spends an output twice', () => {
    const input = received('p2wpkh', 0, 100_000n);
    expect(() => buildRefundPsbt(request({ inputs: [input, input] }))).toThrow('once');
  });

  it('comes with a transaction that is another one, or says another amount: the difference would become a fee', () => {
    const input = received('p2wpkh', 0, 100_000n);
    const other = received('p2wpkh', 1, 100_000n);
    for (const wrong of [
      { ...input, rawTransaction: other.rawTransaction },
      { ...input, amountUnits: 90_000n },
      { ...input, vout: 0 },
      { ...input, vout: 7 },
      { ...input, output: WALLETS.p2wpkh.outputAt(5) },
    ]) {
      expect(() => buildRefundPsbt(request({ inputs: [wrong] }))).toThrow('no such output');
    }
  });

  it('lacks the transaction that P2PKH cannot be signed without; SegWit can', () => {
    const without = (kind: WalletOutput['scriptType'], rawTransaction: string | null) =>
      request({ inputs: [{ ...received(kind, 0, 100_000n), rawTransaction }] });
    expect(() => buildRefundPsbt(without('p2pkh', null))).toThrow('P2PKH');
    expect(() => buildRefundPsbt(without('p2pkh', 'abcd'))).toThrow('P2PKH');
    for (const kind of ['p2wpkh', 'p2sh-p2wpkh', 'p2wsh', 'p2tr'] as const) {
      for (const raw of [null, 'abcd']) {
        expect(signed(built(buildRefundPsbt(without(kind, raw)))).isFinal).toBe(true);
      }
    }
  });
});
