import { sentence, type Sentence } from '../../domain/sentence.ts';

/** The meanings of nodes' reasons (`validation.cpp`, `policy/*.cpp` of Bitcoin Core); the first match counts. */
const MEANINGS = [
  [/missing-?or-?spent|missing inputs/i, 'node_inputs'],
  [/script-verify|signature/i, 'node_signature'],
  [/min relay fee|mempool min fee|min-fee-not-met|insufficient priority/i, 'node_low_fee'],
  [/insufficient fee|mempool-conflict|replacement|too many potential/i, 'node_conflict'],
  [/non-final|non-BIP68/i, 'node_locked'],
  [/premature-spend/i, 'node_immature'],
  [/too-long-mempool-chain|package-/i, 'node_chain'],
  [/dust/i, 'node_dust'],
  [/tx-size|weight/i, 'node_size'],
  [/decode/i, 'node_damaged'],
] as const;

/** A node's refusal of a transaction in plain words, with its own words in brackets. */
export function nodeRefusal(reason: string): Sentence {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(reason))?.[1];
  const said = reason.slice(0, 200);
  if (meaning === undefined) return sentence('node_refused', { said });
  return sentence('node_refused_because', { meaning: sentence(meaning), said });
}
