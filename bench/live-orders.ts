import { HDKey } from '@scure/bip32';
import { startNode } from '../test/rpc-node.ts';
import { load, median, type Load } from './load.ts';
import { makeKey, makeMerchant } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';

const SECONDS = 3;
/** Many short rounds: each live load is compared with the sandbox's next to it. */
const ROUNDS = 7;
const IDLE_MS = 60_000;
/** The orders of a burst after a quiet minute. */
const BURST = 1_000;
const BURSTS = 3;

const XPUB = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/84'/0'/0'").publicExtendedKey;
const ETHEREUM_XPUB = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/60'/0'").publicExtendedKey;
const TREASURY = '0x52908400098527886E0F7030069857D2E4169EE7';

/** The kinds of wallets, and the least share of the sandbox's orders per second; null: the share is only shown. */
const WALLETS = [
  {
    name: 'BTC from an xpub',
    asset: 'BTC',
    network: 'bitcoin',
    source: ['--descriptor', `wpkh(${XPUB}/0/*)`],
    sustained: null,
    burst: 0.75,
  },
  {
    name: 'ETH from an xpub',
    asset: 'ETH',
    network: 'ethereum',
    source: ['--xpub', ETHEREUM_XPUB],
    sustained: null,
    burst: null,
  },
  {
    name: 'ETH deposits',
    asset: 'ETH',
    network: 'ethereum',
    source: ['--treasury', TREASURY],
    sustained: 0.75,
    burst: 0.75,
  },
] as const;

/** Live orders beside orders of the sandbox in the same run. Their networks' nodes are silent, and nobody asks them. */
export async function liveOrders(): Promise<readonly Figure[]> {
  const node = await startNode(() => ({ error: { code: -28, message: 'Loading block index…' } }));
  const service = await startBenchService({
    env: {
      SANDBOX_COMPLETE_AFTER_SECONDS: '86400',
      BITCOIN_RPC_URL: node.url,
      ETHEREUM_RPC_URL: node.url,
      FIXED_RATES: 'BTC=60000,ETH=3000',
      RATE_SOURCES: 'none',
      LOG_LEVEL: 'fatal',
    },
  });
  try {
    const { projectId, headers } = await makeMerchant(service);
    const live = await makeKey(service, projectId, 'live');
    const figures: Figure[] = [];
    for (const wallet of WALLETS) {
      const { network, asset, source } = wallet;
      await service.cli('wallet', 'set', '--project', projectId, '--network', network, ...source);
      const order = (base: string, key: Record<string, string>) => (amount?: number) =>
        load({
          url: `${base}/v1/orders`,
          method: 'POST',
          headers: key,
          body: JSON.stringify({ ...ORDER, crypto_currency: asset }),
          seconds: SECONDS,
          ...(amount === undefined ? {} : { amount }),
        });
      const [ofLive, ofSandbox] = [order(service.live, live), order(service.test, headers)];
      await ofSandbox();
      await ofLive();
      const sustained = await besides(
        ROUNDS,
        () => ofLive(),
        () => ofSandbox(),
      );
      figures.push(figure(`live orders, ${wallet.name}, against the sandbox's`, sustained, wallet.sustained));
      if (wallet.burst === null) continue;
      const idle = async (run: () => Promise<Load>): Promise<Load> => {
        await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
        return run();
      };
      const burst = await besides(
        BURSTS,
        () => idle(() => ofLive(BURST)),
        () => ofSandbox(BURST),
      );
      figures.push(
        figure(`${BURST} live orders after a quiet minute, ${wallet.name}, against the sandbox's`, burst, wallet.burst),
      );
    }
    return figures;
  } finally {
    await service.stop();
    await node.stop();
  }
}

const ORDER = { amount: 25, currency: 'USD', description: 'Two tickets', customer_email: 'customer@example.com' };

/** Loads in turn, each live one between two of the sandbox. */
async function besides(rounds: number, live: () => Promise<Load>, sandbox: () => Promise<Load>) {
  const results: { live: Load; sandbox: Load }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const measured =
      round % 2 === 0
        ? { live: await live(), sandbox: await sandbox() }
        : { sandbox: await sandbox(), live: await live() };
    results.push(measured);
  }
  return results;
}

function figure(
  name: string,
  rounds: readonly { readonly live: Load; readonly sandbox: Load }[],
  least: number | null,
): Figure {
  const failed = rounds.reduce((sum, { live, sandbox }) => sum + live.non2xx + sandbox.non2xx, 0);
  if (failed > 0) throw new Error(`${failed} requests failed.`);
  const ratio = median(rounds.map(({ live, sandbox }) => live.requestsPerSecond / sandbox.requestsPerSecond));
  const rate = (of: 'live' | 'sandbox'): number =>
    Math.round(median(rounds.map((round) => round[of].requestsPerSecond)));
  const p99 = median(rounds.map(({ live }) => live.p99Ms));
  return {
    name,
    measured: `${ratio.toFixed(2)} (${rate('live')} of ${rate('sandbox')}/s), p99 ${p99} ms`,
    target: least === null ? 'shown only' : String(least),
    holds: least === null || ratio >= least,
  };
}
