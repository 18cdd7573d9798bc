import { NETWORK_FACTS, settingOf, GAP_LIMIT, type Network } from '../../domain/networks.ts';
import type { LostMoney } from '../../domain/lost-money.ts';
import type { NetworkProblem } from '../../domain/network-problem.ts';
import { type Cursor, networkStates, type KnownNode } from '../../store/chains/chain.ts';
import { shownAddress } from '../../rails/address.ts';
import { lostTransfers, transfersAhead, type AheadTransfer } from '../../store/chains/lost-transfers.ts';
import { openOutflowCounts } from '../../store/chains/coin-outflows.ts';
import { haltedWallets } from '../../store/wallets/unissued.ts';
import { addressGaps, gapInWords, type AddressGap } from '../../store/wallets/wallets.ts';
import type { App } from '../context.ts';
import { decimalsOf, lostMoney, WHICH_COPY_STAYS } from './lost-money.ts';

/** How well a network is followed. */
export interface NetworkStatus {
  readonly network: Network;
  /** The newest block known to any of its nodes, never below the cursor; null if none of them answers. */
  readonly height: number | null;
  readonly cursor: (Cursor & { readonly problem: string | null }) | null;
  readonly lagBlocks: number | null;
  /** Age of the last block taken in. */
  readonly lagMs: number | null;
  readonly nodes: readonly KnownNode[];
  /** The problem with following it, in one line; null if there is none. */
  readonly problem: string | null;
  /** The kind of that problem, for callers with words of their own. */
  readonly problemKind: NetworkProblem | null;
  /** Tasks for the operator although the network works: one line each, with the way out. */
  readonly warnings: readonly string[];
  /** Money on addresses from hours that a restore lost, not booked as a payment yet; oldest first. */
  readonly lost: readonly LostMoney[];
}

/** A node's report older than this is not used: nobody polls the node any more. */
const NEWS_MS = 90_000;
/** More blocks behind than this counts as catching up, not following. */
const MAX_LAG_BLOCKS = 10;
/** This many average block times without a block is a stall: on Bitcoin that happens by chance once in 10^8 blocks. */
const STALL_BLOCKS = 20;
const MIN_STALL_MS = 5 * 60_000;
/** How long money on deposit addresses that were not handed out yet is reported. */
const AHEAD_REPORTED_MS = 7 * 86_400_000;

/**
 * The state of the networks as saved by the workers that follow them, so that every process and command reports the
 * same. `networks` are expected; others are listed while a worker follows them. A network without blocks for a long
 * time is stalled; a test chain that nobody mines looks stalled too.
 */
export async function networkStatus(app: App, networks: readonly Network[]): Promise<readonly NetworkStatus[]> {
  const { cursors, nodes } = await networkStates(app.db);
  const wide = (await addressGaps(app.db)).filter(({ gap }) => gap > GAP_LIMIT);
  const lost = await lostByNetwork(app);
  const halted = await haltedWallets(app.db);
  const now = app.clock();
  const ahead = await transfersAhead(app.db, now - AHEAD_REPORTED_MS);
  const unclear = await openOutflowCounts(app.db);
  const followed = nodes.filter(({ checkedAt }) => now - checkedAt <= NEWS_MS).map(({ network }) => network);
  return [...new Set([...networks, ...followed])].map((network) => {
    const own = nodes.filter((node) => node.network === network);
    const heights = own.flatMap(({ height }) => (height === null ? [] : [height]));
    const cursor = cursors.get(network) ?? null;
    // Node heights are polled less often than blocks are read: a node also had every block read since.
    const height = heights.length === 0 ? null : Math.max(...heights, cursor?.height ?? 0);
    const lagBlocks = height === null || cursor === null ? null : height - cursor.height;
    const lagMs = cursor === null ? null : Math.max(0, now - cursor.blockAt);
    const status = { network, height, cursor, lagBlocks, lagMs, nodes: own };
    const warnings = [
      ...halted.filter((wallet) => wallet.network === network).map(({ reason }) => haltedWarning(reason)),
      ...ahead.filter((one) => one.network === network).map(aheadWarning),
      ...wide.filter((wallet) => wallet.network === network).map(gapWarning),
      ...unclear.filter((one) => one.network === network).map(unclearWarning),
    ];
    const found = problemOf(status, now);
    return {
      ...status,
      problem: found?.text ?? null,
      problemKind: found?.kind ?? null,
      warnings,
      lost: lost.get(network) ?? [],
    };
  });
}

async function lostByNetwork(app: App): Promise<ReadonlyMap<Network, readonly LostMoney[]>> {
  const groups = Map.groupBy(await lostTransfers(app.db), ({ network }) => network);
  return new Map(
    [...groups].map(([network, group]) => [network, group.map((one) => lostMoney(one, decimalsOf(app, one)))]),
  );
}

function haltedWarning(reason: string): string {
  return `no more addresses are handed out: ${reason}`;
}

function aheadWarning({ network, transactionHash, address, addressIndex, nextIndex }: AheadTransfer): string {
  return (
    `money arrived at deposit address number ${addressIndex} on ${network} (${shownAddress(network, address)}, transaction ${transactionHash}), but the next number to be handed out here is ${nextIndex}. ` +
    `Another copy of this installation hands out addresses of the same treasury, or somebody computed the address (anybody can) and paid to it. If there is another copy, decide which of the two stays. ${WHICH_COPY_STAYS}`
  );
}

function gapWarning(wallet: AddressGap): string {
  const { projectId, network } = wallet;
  const { count, limit } = gapInWords(wallet);
  return (
    `${count} addresses of the ${network} wallet of project ${projectId} were handed out or skipped after the last address that received money. ` +
    `Most wallets stop looking after ${GAP_LIMIT} addresses without money, so raise the wallet's gap limit to ${limit} or more. Then the wallet finds later payments`
  );
}

function unclearWarning({ network, addresses, height }: Awaited<ReturnType<typeof openOutflowCounts>>[number]): string {
  return (
    `money left ${addresses} of your addresses on ${network} in blocks for which no node could list the payments that contracts made. The first of these blocks is ${height}. Some money may therefore not be counted towards its payment, and statements list these addresses. ` +
    `The nodes are asked again every ten minutes. Add a node to ${settingOf(network, 'RPC_URL')} that knows the balances after old blocks (an archive node) and traces blocks (debug_traceBlockByHash or trace_block)`
  );
}

function problemOf(
  status: Omit<NetworkStatus, 'problem' | 'problemKind' | 'warnings' | 'lost'>,
  now: number,
): { readonly kind: NetworkProblem; readonly text: string } | null {
  const { network, nodes, cursor, lagBlocks, lagMs } = status;
  if (nodes.every(({ checkedAt }) => now - checkedAt > NEWS_MS)) {
    return {
      kind: 'not_followed',
      text: 'no worker follows this network, because none is running or none is set up for it',
    };
  }
  if (nodes.every(({ height }) => height === null)) {
    const faults = nodes.map(({ node, problem }) => `${node}: ${problem ?? 'no height'}`).join('; ');
    const wayOut = `Start a node, or set ${settingOf(network, 'RPC_URL')} to a node that answers`;
    return { kind: 'no_answer', text: `no node answers: ${faults}. ${wayOut}` };
  }
  if (cursor?.problem) return { kind: 'halted', text: cursor.problem };
  const bad = nodes.filter(({ problem }) => problem !== null);
  const faults = bad.map(({ node, problem }) => `${node}: ${problem ?? ''}`).join('; ');
  // None of the answering nodes is healthy, which explains the state of the network.
  if (bad.length === nodes.length) return { kind: 'unhealthy', text: faults };
  if (cursor === null || lagMs === null || lagBlocks === null) {
    return { kind: 'unread', text: 'no block has been read yet' };
  }
  if (lagBlocks > MAX_LAG_BLOCKS) return { kind: 'behind', text: `catching up, ${lagBlocks} blocks behind` };
  const stallMs = Math.max(MIN_STALL_MS, STALL_BLOCKS * NETWORK_FACTS[network].blockMs);
  if (lagMs > stallMs) return { kind: 'stalled', text: `no new block for ${Math.round(lagMs / 1000)} s` };
  return bad.length === 0 ? null : { kind: 'unhealthy', text: faults };
}
