/** The meanings of nodes' reasons (`validation.cpp`, `policy/*.cpp` of Bitcoin Core); the first match counts. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [
    /missing-?or-?spent|missing inputs/i,
    'something that it spends was spent by another transaction, or is not known to the node',
  ],
  [/script-verify|signature/i, 'a signature is wrong. Sign what is shown now once more'],
  [
    /min relay fee|mempool min fee|min-fee-not-met|insufficient priority/i,
    'its fee is below what nodes pass on at this moment. Show the refund again and sign that',
  ],
  [
    /insufficient fee|mempool-conflict|replacement|too many potential/i,
    'another transaction that waits to be mined spends the same, and this one does not pay enough more fee to replace it',
  ],
  [/non-final|non-BIP68/i, 'it is locked until a later block or time'],
  [/premature-spend/i, "it spends a miner's reward that is not mature yet"],
  [
    /too-long-mempool-chain|package-/i,
    'it follows on too many transactions that wait to be mined. Try again after the next block',
  ],
  [/dust/i, 'one of its outputs is too small to be passed on'],
  [/tx-size|weight/i, 'it is too large to be passed on'],
  [/decode/i, 'it is damaged'],
];

/** A node's refusal of a transaction in plain words, with its own words in brackets. */
export function refusalText(reason: string): string {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(reason))?.[1];
  const said = reason.slice(0, 200);
  return meaning === undefined
    ? `The node refused the transaction: ${said}.`
    : `The node refused the transaction: ${meaning}. (It said: ${said}.)`;
}
