import { expect, it, onTestFinished } from 'vitest';
import { startNode } from '../../../test/rpc-node.ts';
import { createEvmPool } from '../evm/pool.ts';
import { createUtxoPool } from '../utxo/pool.ts';
import { utxoParams } from '../utxo/params.ts';
import type { NodeReport } from '../chain.ts';
import { noteProblems } from '../../../test/problems.ts';

/** Sets a terminal's title and colour, goes back over the line, forges another, and turns the reading direction. */
const STEERING = 'bad\u001B]0;pwned\u0007\u001B[31mred\r\nforged\u0085line\u2028\u202Etxt.exe\u2066\u200B\uFEFF';

function checkNodesOf(
  family: 'utxo' | 'evm',
  urls: readonly string[],
  withinMs?: number,
): Promise<readonly NodeReport[]> {
  const problems = noteProblems((noted) => void logged.push(noted));
  const common = { urls, timeoutMs: 5_000, problems };
  const params = utxoParams('bitcoin', 'regtest');
  if (params === null) throw new Error('Bitcoin has no regtest.');
  const pool =
    family === 'utxo'
      ? createUtxoPool({ ...common, params })
      : createEvmPool({ ...common, network: 'ethereum', chainId: 1 });
  onTestFinished(() => pool.close());
  return pool.checkNodes(withinMs);
}

let logged: unknown[] = [];

it.each(['utxo', 'evm'] as const)(
  'a node’s words are taken in without what would steer a terminal or forge a line: %s',
  async (family) => {
    logged = [];
    const node = await startNode(() => ({ error: { code: -1, message: STEERING } }));
    onTestFinished(() => node.stop());
    const shown = JSON.stringify([await checkNodesOf(family, [node.url]), logged]);
    expect(shown).toContain('JSON-RPC error -1: bad\uFFFD]0;pwned\uFFFD\uFFFD[31mred\uFFFD\uFFFDforged\uFFFDline');
    expect(
      JSON.parse(shown)
        .flat(9)
        .map((part: object) => Object.values(part).join(' '))
        .join(' '),
    ).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  },
);

it('a node that hangs has no height, and the others’ heights are known meanwhile', async () => {
  const answers: Record<string, string> = { eth_chainId: '0x1', eth_blockNumber: '0x2a', eth_syncing: 'false' };
  const node = await startNode(({ method }) => ({ result: answers[method] ?? null }));
  const hanging = await startNode(() => ({ stall: true }));
  for (const one of [node, hanging]) onTestFinished(() => one.stop());
  const reports = await checkNodesOf('evm', [hanging.url, node.url], 4_000);
  expect(reports.map(({ height }) => height)).toEqual([null, 42]);
});

it('a node that lagged and is late to say how far it is now stays the last one to be asked', async () => {
  let isHanging = false;
  const asked: string[] = [];
  const nodeAt = async (name: string, height: string) => {
    const answers: Record<string, string> = { eth_chainId: '0x1', eth_blockNumber: height };
    const node = await startNode(({ method }) => {
      asked.push(`${name} ${method}`);
      return isHanging && name === 'lagging' ? { stall: true } : { result: answers[method] ?? null };
    });
    onTestFinished(() => node.stop());
    return node.url;
  };
  const urls = [await nodeAt('lagging', '0x2a'), await nodeAt('good', '0x3e8')];
  const pool = createEvmPool({
    network: 'ethereum',
    chainId: 1,
    urls,
    timeoutMs: 5_000,
    problems: noteProblems(() => {}),
  });
  onTestFinished(() => pool.close());
  await pool.checkNodes();
  isHanging = true;
  expect((await pool.checkNodes(4_000)).map(({ height }) => height)).toEqual([null, 1_000]);
  isHanging = false;
  await pool.ask('eth_gasPrice', [], String);
  expect(asked.filter((call) => call.endsWith('gasPrice'))).toEqual(['good eth_gasPrice']);
});
