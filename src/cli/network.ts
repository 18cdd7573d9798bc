import type { Command } from 'commander';
import { networkStatus, type NetworkStatus } from '../app/chains/network-status.ts';
import { formatDecimal } from '../domain/money.ts';
import { isoTime } from '../wire/time.ts';
import { lostMoneyView } from '../wire/lost-money.ts';
import { withCointill } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

/** `cointill network status`. */
export function addNetworkCommands(network: Command): void {
  printsRecord(
    network.command('status').description('show how far Cointill has read each network, and the state of its nodes'),
  ).action((options: OutputOptions) =>
    withCointill(async ({ app, networks }) => {
      const states = await networkStatus(app, networks);
      print(options, states.map(record), () =>
        states.length === 0
          ? ['Cointill follows no network. Set the URL of a node with a setting such as BITCOIN_RPC_URL.']
          : states.flatMap((state, index) => [...(index === 0 ? [] : ['']), ...lines(state)]),
      );
    }),
  );
}

const LOST_HINT =
  '  The restored backup does not contain the orders for this money. Book the money with: cointill recover book ADDRESS --amount N [--order-id X]';

function record(state: NetworkStatus): object {
  return {
    network: state.network,
    healthy: state.problem === null,
    problem: state.problem,
    warnings: state.warnings,
    lost: state.lost.map(lostMoneyView),
    height: state.height,
    cursor: state.cursor?.height ?? null,
    cursor_hash: state.cursor?.hash ?? null,
    cursor_block_at: state.cursor === null ? null : isoTime(state.cursor.blockAt),
    lag_blocks: state.lagBlocks,
    lag_seconds: state.lagMs === null ? null : Math.round(state.lagMs / 1000),
    nodes: state.nodes.map(({ node, height, problem, checkedAt }) => ({
      url: node,
      height,
      last_error: problem,
      checked_at: isoTime(checkedAt),
    })),
  };
}

function lines(state: NetworkStatus): readonly string[] {
  const { cursor, lagMs } = state;
  return [
    ...fields([
      ['Network', state.network],
      ['State', state.problem ?? 'healthy'],
      ...state.warnings.map((warning): [string, string] => ['Warning', warning]),
      ['Height', state.height === null ? 'unknown' : String(state.height)],
      ['Read up to', cursor === null ? 'nothing yet' : `${cursor.height} (${isoTime(cursor.blockAt)}), ${cursor.hash}`],
      ['Lag', state.lagBlocks === null ? 'unknown' : `${state.lagBlocks} blocks, ${Math.round((lagMs ?? 0) / 1000)} s`],
    ]),
    ...state.lost.map(
      ({ address, index, amountUnits, decimals, asset, transactionHash }) =>
        `  Lost: ${formatDecimal(amountUnits, decimals)} ${asset} on ${address} (number ${index}), transaction ${transactionHash}`,
    ),
    ...(state.lost.length === 0 ? [] : [LOST_HINT]),
    ...state.nodes.map(
      ({ node, height, problem, checkedAt }) =>
        `  ${node}  ${height === null ? '' : `block ${height}, `}${problem ?? 'healthy'} (${isoTime(checkedAt)})`,
    ),
  ];
}
