import type { Command } from 'commander';
import { sweepOverview, type DepositHolding, type SweepOverview } from '../app/projects/sweep.ts';
import { readConfig } from '../config/config.ts';
import { tokenOf } from '../domain/asset.ts';
import { formatDecimal } from '../domain/money.ts';
import { EVM_NETWORKS, isNetwork, isEvmNetwork, settingOf, type Network } from '../domain/networks.ts';
import { pricesNow } from '../service/prices.ts';
import { ChainUnavailableError } from '../rails/chain.ts';
import { evmFamily } from '../rails/evm/family.ts';
import { oneOf, projectIdOf } from './arguments.ts';
import { CommandFailure, UsageFailure } from './failure.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, table, type OutputOptions } from './output.ts';

interface PlanOptions extends OutputOptions {
  readonly project: string;
  readonly network: string;
}

const NODE_TIMEOUT_MS = 10_000;
const GWEI_DECIMALS = 9;
const ETHER_DECIMALS = 18;

/** `cointill sweep plan`. */
export function addSweepCommands(sweep: Command): void {
  printsRecord(
    sweep.command('plan').description('list the balances of deposit contracts, and the calls that pay them out'),
  )
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .requiredOption('--network <network>', oneOf(EVM_NETWORKS))
    .action(({ project: projectId, network, ...options }: PlanOptions) =>
      withCointill(async ({ app, networkConfigs, problems }) => {
        const config = networkConfigs.find((one) => one.network === network);
        if (!isNetwork(network) || !isEvmNetwork(network)) {
          throw new UsageFailure(`--network must be ${oneOf(EVM_NETWORKS)}.`);
        }
        if (config?.family !== 'evm') {
          throw new CommandFailure(
            `For a sweep, Cointill must ask a node for the balances. Set ${settingOf(network, 'RPC_URL')}, as for the service.`,
          );
        }
        const prices = () => pricesNow(readConfig(process.env, process.cwd()), problems);
        const caller = evmFamily.createCaller(config, { timeoutMs: NODE_TIMEOUT_MS, problems });
        try {
          const overview = done(
            await sweepOverview(app, { projectId, network, tokens: config.tokens }, caller, prices),
          );
          const decimals = (asset: DepositHolding['asset']): number =>
            (asset === null ? undefined : (config.tokens.get(asset)?.decimals ?? tokenOf(asset, network)?.decimals)) ??
            ETHER_DECIMALS;
          print(options, record(network, config.chainId, overview, decimals), () => lines(network, overview, decimals));
        } catch (error) {
          if (error instanceof ChainUnavailableError) throw new CommandFailure(error.message, { cause: error });
          throw error;
        } finally {
          await caller.close();
        }
      }),
    );
}

type Decimals = (asset: DepositHolding['asset']) => number;

function record(network: Network, chainId: number, overview: SweepOverview, decimals: Decimals): object {
  const { holdings, calls, gasEstimate, gasPrice } = overview;
  return {
    network,
    chain_id: chainId,
    deposits: holdings.map(({ asset, units, usdCents, pricedBy, ...holding }) => ({
      ...holding,
      asset,
      amount: formatDecimal(units, decimals(asset)),
      usd: usdCents === null ? null : formatDecimal(usdCents, 2),
      priced_by: pricedBy,
    })),
    gas_estimate: String(gasEstimate),
    gas_price_wei: String(gasPrice),
    cost: formatDecimal(gasEstimate * gasPrice, ETHER_DECIMALS),
    calls: calls.map(({ purpose, to, data, indexes, gasEstimate: estimate, gasLimit }) => ({
      purpose,
      to,
      value: '0',
      data,
      indexes,
      gas_estimate: String(estimate),
      gas_limit: String(gasLimit),
    })),
  };
}

function lines(network: Network, overview: SweepOverview, decimals: Decimals): readonly string[] {
  const { holdings, calls, gasEstimate, gasPrice } = overview;
  if (holdings.length === 0) return [`All deposit contracts of this project on ${network} are empty.`];
  const shown = table(
    ['INDEX', 'DEPOSIT', 'AMOUNT', 'ABOUT USD'],
    holdings.map(({ index, address, asset, units, usdCents }) => [
      String(index),
      address,
      `${formatDecimal(units, decimals(asset))} ${asset ?? 'coins'}`,
      usdCents === null ? 'no price' : formatDecimal(usdCents, 2),
    ]),
    '',
  );
  const unpriced = holdings.some(({ usdCents }) => usdCents === null)
    ? ["Balances without a known price are included, even if they are below the project's minimum."]
    : [];
  if (calls.length === 0) {
    return [
      ...shown,
      '',
      "No deposit has reached the project's minimum yet. Change this minimum with: cointill project set ID --sweep-min USD",
    ];
  }
  return [
    ...shown,
    '',
    ...unpriced,
    `Cost: about ${gasEstimate} gas, ${formatDecimal(gasEstimate * gasPrice, ETHER_DECIMALS)} of the network's coin at ${formatDecimal(gasPrice, GWEI_DECIMALS)} gwei.`,
    'Send these calls from any wallet, in this order and without value. The money can go only to the treasury.',
    ...calls.flatMap((call, index) => [
      '',
      ...fields([
        [
          `Call ${index + 1}`,
          call.purpose === 'deploy_factory'
            ? 'deploys the factory, once'
            : `empties deposits ${call.indexes.join(', ')}`,
        ],
        ['To', call.to],
        ['Gas limit', String(call.gasLimit)],
        ['Data', call.data],
      ]),
    ]),
  ];
}
