import { Client } from 'pg';
import { utxoParams } from '../src/rails/utxo/params.ts';
import { createRpcNode } from '../src/rails/rpc/node.ts';
import { newProcessMemory } from '../src/app/context.ts';
import { createChainFollower } from '../src/app/chains/follow-chain.ts';
import { createUtxoSource } from '../src/rails/utxo/source.ts';
import { openDatabase } from '../src/store/database.ts';
import { DEFAULT_POLICY } from '../src/domain/transition.ts';
import { sandboxRail } from '../src/modes/sandbox-rail.ts';
import { testRates } from '../src/rates/fixed.ts';
import { startUtxoNode } from '../test/litecoind.ts';
import { median } from './load.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';
import { NO_REPORTS } from '../src/domain/problems.ts';

const BLOCKS = 1_000;
const ROUNDS = 5;

/** Following a thousand blocks durably, with everything that belongs to it, against reading them from the node. */
export async function catchUp(): Promise<readonly Figure[]> {
  const node = await startUtxoNode();
  const service = await startBenchService();
  const client = new Client(service.database);
  const handle = openDatabase(service.database, { maxConnections: 4, onError: () => {} });
  try {
    await client.connect();
    // The first round begins some blocks below the head.
    await node.mine(100);
    const params = utxoParams('litecoin', 'regtest');
    if (params === null) throw new Error('Litecoin has no regtest.');
    const source = createUtxoSource({
      params,
      asset: 'LTC',
      urls: [node.url],
      timeoutMs: 30_000,
      problems: NO_REPORTS,
    });
    const rail = sandboxRail(testRates(), 60_000);
    const app = {
      db: handle.db,
      clock: Date.now,
      random: (size: number) => crypto.getRandomValues(new Uint8Array(size)),
      railFor: () => rail,
      links: { checkoutUrl: { live: '', test: '' } },
      policy: DEFAULT_POLICY,
      memory: newProcessMemory(),
    };
    await createChainFollower(app, source).follow();
    const { rows } = await client.query<{ height: number }>('select height from chain_cursors');
    const from = (rows[0]?.height ?? 0) + 1;
    while (Number(await node.rpc('getblockcount')) < from + BLOCKS - 1) await node.mine(100);
    const head = Number(await node.rpc('getblockcount'));
    const bare = createRpcNode(node.url, 30_000);
    const hashes: string[] = [];
    for (let height = from; height <= head; height += 1) hashes.push(String(await bare.call('getblockhash', [height])));
    const ours: number[] = [];
    const raw: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await client.query(
        'update chain_cursors set height = b.height, hash = b.hash, block_at = b.block_at from chain_blocks b where b.height = $1',
        [from - 1],
      );
      const startedAt = performance.now();
      const follower = createChainFollower(app, source);
      while ((await follower.follow()) !== 'at_head');
      ours.push(hashes.length / (performance.now() - startedAt));
      const rawAt = performance.now();
      for (const hash of hashes) await bare.call('getblock', [hash, 0]);
      raw.push(hashes.length / (performance.now() - rawAt));
    }
    await Promise.all([source.close(), bare.close()]);
    const ratio = median(ours.map((rate, round) => rate / (raw[round] ?? NaN)));
    return [
      {
        name: `catching up ${hashes.length} regtest blocks against the node's own getblock`,
        measured: `${ratio.toFixed(2)} (${Math.round(median(ours) * 1000)} of ${Math.round(median(raw) * 1000)} blocks/s)`,
        target: '0.5',
        holds: ratio >= 0.5,
      },
    ];
  } finally {
    await client.end();
    await handle.close();
    await service.stop();
    await node.stop();
  }
}
