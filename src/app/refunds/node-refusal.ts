/** The meanings of nodes' reasons (`validation.cpp`, `policy/*.cpp` of Bitcoin Core); the first match counts. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [
    /missing-?or-?spent|missing inputs/i,
    'one of its inputs was spent by another transaction or is not known to the node',
  ],
  [/script-verify|signature/i, 'a signature is wrong. Sign the transaction that is shown now'],
  [
    /min relay fee|mempool min fee|min-fee-not-met|insufficient priority/i,
    'its fee is too low for nodes to forward it now. Show the refund again and sign the new transaction',
  ],
  [
    /insufficient fee|mempool-conflict|replacement|too many potential/i,
    'another transaction that is waiting to be mined spends the same inputs, and the fee of this one is not high enough to replace it',
  ],
  [/non-final|non-BIP68/i, 'it is locked until a later block or time'],
  [/premature-spend/i, "it spends a miner's reward that is not mature yet"],
  [
    /too-long-mempool-chain|package-/i,
    'it depends on too many transactions that are waiting to be mined. Try again after the next block',
  ],
  [/dust/i, 'one of its outputs is too small for nodes to forward'],
  [/tx-size|weight/i, 'it is too large for nodes to forward'],
  [/decode/i, 'it is damaged'],
];

/** A node's refusal of a transaction in plain words, with its own words in brackets. */
export function refusalText(reason: string): string {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(reason))?.[1];
  const said = reason.slice(0, 200);
  return meaning === undefined
    ? `The node refused the transaction: ${said}.`
    : `The node refused the transaction: ${meaning}. (The node said: ${said}.)`;
}
