import { expect, it } from 'vitest';
import { decodeProgress, stateOf, type Contact, type Progress } from './node-state.ts';

const MAIN = { network: 'bitcoin', chain: 'main' } as const;
const CURRENT: Progress = { blocks: 900_000, headers: 900_000, initialBlockDownload: false };
const CONNECTED: Contact = { connections: 10, relaysTransactions: true, upSeconds: 86_400 };

/** The answers of Bitcoin Knots 29 and Litecoin Core 0.21 on chain "main" before they have a block. */
const RECORDED = [
  '{"chain":"main","blocks":0,"headers":0,"bestblockhash":"000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f","bits":"1d00ffff","target":"00000000ffff0000000000000000000000000000000000000000000000000000","difficulty":1,"time":1231006505,"mediantime":1231006505,"verificationprogress":6.690043816761121e-10,"initialblockdownload":true,"chainwork":"0000000000000000000000000000000000000000000000000000000100010001","size_on_disk":293,"pruned":false,"warnings":[]}',
  '{"chain":"main","blocks":0,"headers":0,"bestblockhash":"12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2","difficulty":0.000244140625,"mediantime":1317972665,"verificationprogress":3.549225337289412e-9,"initialblockdownload":true,"chainwork":"0000000000000000000000000000000000000000000000000000000000100010","size_on_disk":288,"pruned":false,"softforks":{},"warnings":""}',
];

it.each(RECORDED)('a node that loads the chain says so: %#', (answer) => {
  expect(decodeProgress(JSON.parse(answer))).toEqual({ blocks: 0, headers: 0, initialBlockDownload: true });
});

it.each([{}, null, { blocks: 1, headers: 1 }, { blocks: -1, headers: 1, initialblockdownload: false }])(
  'an answer that is not of its kind is refused: %j',
  (answer) => {
    expect(() => decodeProgress(answer)).toThrow('malformed answer');
  },
);

it.each<readonly [string, Partial<Progress>, Partial<Contact> | 'not_shown' | 'refused', string, RegExp | null]>([
  ['current and connected', {}, {}, 'mempool', null],
  ['hosted, and silent about its peers', {}, 'not_shown', 'mempool', null],
  [
    'in initial block download',
    { initialBlockDownload: true },
    {},
    'nothing',
    /initial block download.*BITCOIN_RPC_URL/,
  ],
  ['waiting for a block whose header it has', { headers: 900_001 }, {}, 'nothing', null],
  ['far behind its own headers', { headers: 900_100 }, {}, 'nothing', /900000 of 900100 blocks.*BITCOIN_RPC_URL/],
  ['connected to nobody', {}, { connections: 0 }, 'nothing', /not connected to any other node.*BITCOIN_RPC_URL/],
  ['just started', {}, { upSeconds: 59 }, 'nothing', null],
  ['started a minute ago', {}, { upSeconds: 60 }, 'mempool', null],
  ['silent about when it started', {}, { upSeconds: null }, 'mempool', null],
  ['without transactions', {}, { relaysTransactions: false }, 'blocks', /-blocksonly/],
  ['forbidding the question', {}, 'refused', 'nothing', /Allow both calls in its -rpcwhitelist/],
])('a node that is %s', (_name, progress, contact, proof, problem) => {
  const given = typeof contact === 'string' ? contact : { ...CONNECTED, ...contact };
  const state = stateOf(MAIN, { ...CURRENT, ...progress }, given);
  expect(state.proof).toBe(proof);
  expect(state.problem ?? 'none').toMatch(problem ?? /^none$/);
});

it('on regtest neither peers nor time are asked for, and the way out of a download is a block', () => {
  const regtest = { ...MAIN, chain: 'regtest' } as const;
  const alone = { ...CONNECTED, connections: 0, upSeconds: 0 };
  expect(stateOf(regtest, CURRENT, alone)).toEqual({ proof: 'mempool', problem: null });
  const old = stateOf(regtest, { ...CURRENT, initialBlockDownload: true }, alone);
  expect(old).toEqual({ proof: 'nothing', problem: expect.stringContaining('Mine a block') });
});
