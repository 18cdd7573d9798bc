import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startUtxoNode, utxoNodeKinds, type UtxoNode, type UtxoNodeOptions } from '../../../test/litecoind.ts';
import type { TestNode } from '../../../test/rpc-node.ts';
import type { UtxoChain } from '../family.ts';
import { failureOf } from '../source.fixture.ts';
import { nodeLike, paramsOf, sourceOf } from './source.fixture.ts';

const UNKNOWN = '7'.repeat(64);

async function nodeOf(options: UtxoNodeOptions): Promise<UtxoNode> {
  const node = await startUtxoNode(options);
  onTestFinished(() => node.stop());
  return node;
}

describe.each(utxoNodeKinds())('a %s node', (kind) => {
  const setting = `${kind.toUpperCase()}_RPC_URL`;
  let regtest: UtxoNode;
  beforeAll(async () => {
    regtest = await startUtxoNode({ kind });
    await regtest.mine(5);
  });
  afterAll(() => regtest.stop());

  /**
   * The regtest node in the clothes of a long chain that begins as `chain` does, with `landmark` as its later block.
   */
  function longChain(chain: UtxoChain, landmark: string): Promise<TestNode> {
    const params = paramsOf(kind, chain);
    return nodeLike(regtest, ({ method, params: given }) => {
      const height: unknown = Array.isArray(given) ? given[0] : null;
      if (method !== 'getblockhash') return null;
      if (height === 0) return { result: params.genesisHash };
      return height === params.landmark?.height ? { result: landmark } : null;
    });
  }

  it.each(kind === 'bitcoin' ? (['main', 'test', 'testnet4', 'signet'] as const) : (['main', 'test'] as const))(
    'that has only begun to load chain "%s" is not used yet, and says why and how far it is',
    async (chain) => {
      const node = await nodeOf({ kind, chain });
      const source = sourceOf(kind, [node.url], { chain });
      const [report] = await source.checkNodes();
      expect(report).toMatchObject({ height: 0, problem: expect.stringMatching(/^it is still loading the chain /) });
      expect(report?.problem).toContain(setting);
      expect((await failureOf(source.head())).message).toContain('still loading the chain');
      await failureOf(source.mempool?.waiting() ?? Promise.resolve());
    },
  );

  it.each(['main', 'test'] as const)(
    'of a chain that only begins like "%s" is never used, and the way out is named',
    async (chain) => {
      const fork = await longChain(chain, UNKNOWN);
      const source = sourceOf(kind, [fork.url], { chain });
      const { message } = await failureOf(source.head());
      expect(message).toContain(`is on another chain that only begins like ${kind}'s chain "${chain}"`);
      expect(message).toContain(`Set ${setting} to a node of ${kind}'s chain "${chain}"`);
      expect(await source.checkNodes()).toMatchObject([{ height: null, problem: expect.stringContaining(UNKNOWN) }]);
      await failureOf(source.blocks(1, 1));
      await failureOf(source.mempool?.waiting() ?? Promise.resolve());
    },
  );

  it('of the right chain is used; without peers it proves nothing, which is reported with the way out', async () => {
    const alone = await longChain('main', paramsOf(kind, 'main').landmark?.hash ?? '');
    const source = sourceOf(kind, [alone.url], { chain: 'main' });
    expect(await source.head()).toMatchObject({ height: 5 });
    expect(await source.mempool?.waiting()).toEqual({ hashes: [], proof: 'nothing' });
    expect(await source.checkNodes()).toMatchObject([
      { height: 5, problem: expect.stringMatching(new RegExp(`not connected .*no payment expires.*${setting}`)) },
    ]);
  });

  it('that stands alone on regtest proves what it shows', async () => {
    const source = sourceOf(kind, [regtest.url]);
    expect(await source.checkNodes()).toMatchObject([{ height: 5, problem: null }]);
    expect(await source.mempool?.waiting()).toEqual({ hashes: [], proof: 'mempool' });
  });

  it('that loads the chain comes after one that has it, as one that lags', async () => {
    const loading = await nodeLike(regtest, async ({ method, params }) => {
      if (method !== 'getblockchaininfo') return null;
      const { result } = await regtest.answer(method, params);
      return { result: { ...Object(result), initialblockdownload: true } };
    });
    const source = sourceOf(kind, [loading.url, regtest.url]);
    expect(await source.mempool?.waiting()).toMatchObject({ proof: 'nothing' });
    expect(await source.checkNodes()).toMatchObject([
      { problem: expect.stringContaining('initial block download') },
      { problem: null },
    ]);
    expect(await source.mempool?.waiting()).toMatchObject({ proof: 'mempool' });
  });
});

describe.runIf(utxoNodeKinds().includes('bitcoin'))('signet', () => {
  it('of somebody’s own is not taken for the public one', async () => {
    const node = await nodeOf({ kind: 'bitcoin', chain: 'signet', options: ['-signetchallenge=51'] });
    const { message } = await failureOf(sourceOf('bitcoin', [node.url], { chain: 'signet' }).head());
    expect(message).toContain('is on a custom signet (-signetchallenge)');
    expect(message).toContain('Set BITCOIN_RPC_URL to a node of the public signet.');
  });
});
