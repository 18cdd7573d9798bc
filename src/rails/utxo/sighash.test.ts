import { SigHash, Transaction } from '@scure/btc-signer';
import { describe, expect, it } from 'vitest';
import { sentence } from '../../domain/sentence.ts';
import type { ScriptType } from '../family.ts';
import { spendingFields } from './psbt.ts';
import { sighashFault, type SignedInput } from './sighash.ts';
import { MASTER, paramsOf, publicKeyAt, walletOf } from './wallet.fixture.ts';

const bitcoin = paramsOf('bitcoin', 'main');
const keyAt = (path: string): string => `[73c5da0a${path.slice(1)}]${publicKeyAt(path, 'xpub')}/<0;1>/*`;
const MULTI = ["m/48'/0'/0'/2'", "m/48'/0'/1'/2'", "m/48'/0'/2'/2'"];
const TEXTS: Readonly<Record<ScriptType, string>> = {
  p2pkh: `pkh(${keyAt("m/44'/0'/0'")})`,
  'p2sh-p2wpkh': `sh(wpkh(${keyAt("m/49'/0'/0'")}))`,
  p2wpkh: `wpkh(${keyAt("m/84'/0'/0'")})`,
  p2tr: `tr(${keyAt("m/86'/0'/0'")})`,
  p2wsh: `wsh(sortedmulti(2,${MULTI.map(keyAt).join(',')}))`,
};
const KINDS = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr', 'p2wsh'] as const;
/** All but SIGHASH_ALL and the default. */
const OPEN = [
  ['SIGHASH_NONE', SigHash.NONE],
  ['SIGHASH_SINGLE', SigHash.SINGLE],
  ['SIGHASH_ALL|ANYONECANPAY', SigHash.ALL_ANYONECANPAY],
  ['SIGHASH_NONE|ANYONECANPAY', SigHash.NONE_ANYONECANPAY],
  ['SIGHASH_SINGLE|ANYONECANPAY', SigHash.SINGLE_ANYONECANPAY],
] as const;

/** An input of a transaction that spends an output of such a wallet, signed with these types, one for each key. */
function signedInput(
  kind: ScriptType,
  sighashes: readonly number[],
): { readonly open: SignedInput; readonly final: () => SignedInput } {
  const output = walletOf(bitcoin, 'descriptor', TEXTS[kind]).deriver.outputAt(0);
  const received = new Transaction({ allowUnknownInputs: true });
  received.addOutput({ script: output.script, amount: 100_000n });
  received.addInput({ txid: new Uint8Array(32), index: 0, finalScriptSig: new Uint8Array([0x51]) });
  const transaction = new Transaction();
  const spent = { txid: received.id, index: 0, ...spendingFields(output) };
  const utxo =
    kind === 'p2pkh'
      ? { nonWitnessUtxo: received.toBytes(true) }
      : { witnessUtxo: { script: output.script, amount: 100_000n } };
  transaction.addInput({ ...spent, ...utxo });
  transaction.addOutput({ script: output.script, amount: 90_000n });
  const unsigned = transaction.clone();
  for (const [at, sighash] of sighashes.entries()) {
    const { path } = output.keys[at] ?? { path: [] };
    const { privateKey } = path.reduce((key: typeof MASTER, step) => key.deriveChild(step), MASTER);
    // The library asks for the type in the input, and lets it be changed only before a signature.
    const copy = unsigned.clone();
    copy.updateInput(0, { sighashType: sighash });
    copy.signIdx(privateKey ?? new Uint8Array(), 0, [sighash]);
    const { partialSig, tapKeySig } = copy.getInput(0);
    transaction.updateInput(0, tapKeySig === undefined ? { partialSig: partialSig ?? [] } : { tapKeySig }, true);
  }
  return {
    open: transaction.getInput(0),
    final: () => {
      const copy = transaction.clone();
      copy.finalizeIdx(0);
      return copy.getInput(0);
    },
  };
}

const typesOf = (kind: ScriptType, type: number): readonly number[] =>
  kind === 'p2wsh' ? [SigHash.ALL, type] : [type];

describe.each(KINDS)('a signature of %s', (kind) => {
  it('that commits to every input and output is taken, final or not', () => {
    for (const type of kind === 'p2tr' ? [SigHash.DEFAULT, SigHash.ALL] : [SigHash.ALL]) {
      const { open, final } = signedInput(kind, typesOf(kind, type));
      expect([sighashFault(open, kind), sighashFault(final(), kind)]).toEqual([null, null]);
    }
  });

  it.each(OPEN)('with %s is found, final or not', (name, type) => {
    const { open, final } = signedInput(kind, typesOf(kind, type));
    expect(sighashFault(open, kind)).toEqual(sentence('signed_with', { sighash: name }));
    expect(sighashFault(final(), kind)).toEqual(sentence('signed_with', { sighash: name }));
  });

  it.each(OPEN)('that is asked for with %s is refused before it is there', (name, sighashType) => {
    expect(sighashFault({ sighashType }, kind)).toEqual(sentence('asks_to_be_signed', { sighash: name }));
    expect(sighashFault({ sighashType: SigHash.ALL }, kind)).toBeNull();
    expect(sighashFault({}, kind)).toBeNull();
  });

  it('in final fields of another form is refused as unreadable', () => {
    const { finalScriptSig, finalScriptWitness } = signedInput(kind, typesOf(kind, SigHash.ALL)).final();
    const witness = finalScriptWitness ?? [];
    const forms: readonly SignedInput[] = [
      { finalScriptSig: new Uint8Array([0x51]), finalScriptWitness: witness },
      { finalScriptSig: new Uint8Array([0x4c]), finalScriptWitness: witness },
      {
        ...(finalScriptSig && { finalScriptSig }),
        finalScriptWitness: [...witness, new Uint8Array([0x50]), new Uint8Array()],
      },
      { finalScriptWitness: [new Uint8Array(), new Uint8Array(), new Uint8Array()] },
    ];
    for (const form of forms) expect(sighashFault(form, kind)).not.toBeNull();
  });
});

describe('a signature', () => {
  it('that finalizing would leave out counts too', () => {
    const { open } = signedInput('p2wsh', [SigHash.ALL, SigHash.ALL, SigHash.NONE]);
    expect(sighashFault(open, 'p2wsh')).toEqual(sentence('signed_with', { sighash: 'SIGHASH_NONE' }));
  });

  it('of a type that nobody knows is named by its number, and one that is empty cannot be read', () => {
    const partialSig = (bytes: readonly number[]): SignedInput => ({
      partialSig: [[new Uint8Array(33), Uint8Array.from(bytes)]],
    });
    const signedWith = (type: string) => sentence('signed_with', { sighash: sentence('sighash_type', { type }) });
    expect(sighashFault(partialSig([0x30, 0x00]), 'p2wpkh')).toEqual(signedWith('0x00'));
    expect(sighashFault(partialSig([0x30, 0x41]), 'p2wpkh')).toEqual(signedWith('0x41'));
    expect(sighashFault(partialSig([]), 'p2wpkh')).toEqual(sentence('signature_unreadable'));
    for (const length of [0, 63, 65, 66]) {
      expect(sighashFault({ tapKeySig: new Uint8Array(length) }, 'p2tr')).toEqual(sentence('signature_unreadable'));
    }
  });
});
