import { Client } from 'pg';
import { paymentsWatching } from '../src/app/payments/chain-money.ts';
import { refundsWatching } from '../src/app/refunds/refund-payouts.ts';
import type { Network } from '../src/domain/networks.ts';
import type { ChainSource } from '../src/rails/chain.ts';
import { createEvmSource } from '../src/rails/evm/source.ts';
import { utxoParams } from '../src/rails/utxo/params.ts';
import { createUtxoSource } from '../src/rails/utxo/source.ts';
import { openDatabase } from '../src/store/database.ts';
import { startAnvil } from '../test/anvil.ts';
import { deployToken } from '../test/erc20.ts';
import { startUtxoNode } from '../test/litecoind.ts';
import { testXpub, watchAddresses } from './chain-service.ts';
import { median } from './load.ts';
import type { Figure } from './report.ts';
import { residentMiB, startBenchService } from './service.ts';
import { NO_REPORTS } from '../src/domain/problems.ts';

const WATCHED = 1_000_000;
const OUTPUTS = 4_000;
const ROUNDS = 15;
const TIMEOUT_MS = 30_000;
const PAUSE_MS = 5_000;

/**
 * The cost of matching a full block beside fetching it, and the memory for watching, both with a million addresses.
 */
export async function matchBlocks(): Promise<readonly Figure[]> {
  const litecoin = await startUtxoNode();
  const anvil = await startAnvil({ manualMining: true });
  try {
    await litecoin.fund();
    const service = await startBenchService({
      env: { LITECOIN_RPC_URL: litecoin.url, LITECOIN_CHAIN: 'regtest', FIXED_RATES: 'LTC=100', RATE_SOURCES: 'none' },
    });
    const client = new Client(service.database);
    const handle = openDatabase(service.database, { maxConnections: 2, onError: () => {} });
    try {
      await client.connect();
      await watchAddresses(client, 'litecoin', 'LTC', WATCHED);
      await watchAddresses(client, 'ethereum', 'ETH', WATCHED);
      const project = String((await service.cli('project', 'create', '--name', 'Bench'))['id']);
      await service.cli('wallet', 'set', '--project', project, '--network', 'litecoin', '--xpub', testXpub());
      const params = utxoParams('litecoin', 'regtest');
      if (params === null) throw new Error('Litecoin has no regtest.');
      const utxo = createUtxoSource({
        params,
        asset: 'LTC',
        urls: [litecoin.url],
        timeoutMs: TIMEOUT_MS,
        problems: NO_REPORTS,
      });
      const utxoHeight = await fillUtxoBlock(litecoin);
      const token = await deployToken(anvil, 'ordinary');
      const evm = createEvmSource({
        network: 'ethereum',
        nativeAsset: 'ETH',
        tokens: new Map([['USDT', { contract: token.address, decimals: 6 }]]),
        urls: [anvil.url],
        chainId: 31_337,
        timeoutMs: TIMEOUT_MS,
        problems: NO_REPORTS,
      });
      const evmHeight = await fillEvmBlock(anvil, token);
      const figures = [
        await measure(handle.db, utxo, utxoHeight, `a ${OUTPUTS}-output UTXO block against ${WATCHED} addresses`),
        await measure(handle.db, evm, evmHeight, `an EVM block of 300 transactions and 500 logs against ${WATCHED}`),
      ];
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      const mib = await residentMiB(service.pid);
      await Promise.all([utxo.close(), evm.close()]);
      return [
        ...figures,
        {
          name: `memory of the Node.js process that follows a chain with ${WATCHED} watched addresses`,
          measured: `${Math.round(mib)} MiB`,
          target: '200 MB',
          holds: mib * 1.048_576 <= 200,
        },
      ];
    } finally {
      await client.end();
      await handle.close();
      await service.stop();
    }
  } finally {
    await Promise.all([litecoin.stop(), anvil.stop()]);
  }
}

async function measure(
  db: Parameters<typeof paymentsWatching>[0]['db'],
  source: ChainSource,
  height: number,
  name: string,
): Promise<Figure> {
  const fetching: number[] = [];
  const matching: number[] = [];
  let transfers = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    const block = await source.block(height);
    const fetchedAt = performance.now();
    if (block === null) throw new Error('The node lost the block.');
    await paymentsWatching({ db }, source.network satisfies Network, block.transfers);
    await refundsWatching({ db }, source.network, block.transfers);
    matching.push(performance.now() - fetchedAt);
    fetching.push(fetchedAt - startedAt);
    transfers = block.transfers.length;
  }
  const [fetch, match] = [median(fetching), median(matching)];
  return {
    name: `matching ${name}, against fetching and decoding it`,
    measured: `${(match / fetch).toFixed(2)} (${match.toFixed(1)} of ${fetch.toFixed(1)} ms, ${transfers} transfers)`,
    target: '1.5',
    holds: match <= 1.5 * fetch,
  };
}

/** Mines a block of standard transactions with this number of outputs; returns its height. */
async function fillUtxoBlock(node: Awaited<ReturnType<typeof startUtxoNode>>): Promise<number> {
  const perTransaction = 500;
  // One after the other: the node takes few calls at once.
  const addresses: string[] = [];
  while (addresses.length < perTransaction) addresses.push(await node.newAddress('bech32'));
  const amounts = Object.fromEntries(addresses.map((address) => [address, 0.001]));
  // A coin for each transaction: nodes pass on short chains of unconfirmed ones only.
  await node.mine(OUTPUTS / perTransaction);
  const coins = (await node.rpc('listunspent')) as readonly { txid: string; vout: number; amount: number }[];
  for (const { txid, vout, amount } of coins.slice(0, OUTPUTS / perTransaction)) {
    const change = { [await node.newAddress('legacy')]: Number((amount - perTransaction * 0.001 - 0.01).toFixed(8)) };
    const bare = await node.rpc('createrawtransaction', [[{ txid, vout }], [...split(amounts), change]]);
    const signed = (await node.rpc('signrawtransactionwithwallet', [bare])) as { hex: string };
    await node.rpc('sendrawtransaction', [signed.hex]);
  }
  await node.mine(1);
  return Number(await node.rpc('getblockcount'));
}

/** One object an output, because the node keeps their order. */
function split(amounts: Readonly<Record<string, number>>): readonly Record<string, number>[] {
  return Object.entries(amounts).map(([address, amount]) => ({ [address]: amount }));
}

/** Mines 200 transfers of ether and 100 calls that move a token five times each in one block; returns its height. */
async function fillEvmBlock(
  anvil: Awaited<ReturnType<typeof startAnvil>>,
  token: Awaited<ReturnType<typeof deployToken>>,
): Promise<number> {
  const address = (number: number): string => `0x${(0x1000_0000 + number).toString(16).padStart(40, '0')}`;
  await anvil.rpc('evm_setBlockGasLimit', ['0x5f5e100']);
  for (let number = 0; number < 200; number += 1) await anvil.transfer(address(number), 10n ** 15n);
  for (let call = 0; call < 100; call += 1) {
    const to = Array.from({ length: 5 }, (_, index) => address(1_000 + call * 5 + index));
    await token.send('transferMany', [to, 1n], { gas: 400_000n });
  }
  await anvil.mine(1);
  return Number(await anvil.rpc('eth_blockNumber'));
}
