import type { Command } from 'commander';
import { DEFAULT_CONFIRMATIONS } from '../app/chain-rail.ts';
import { setProjectWallet, walletsOf } from '../app/wallets.ts';
import { isoTime } from '../domain/views.ts';
import { parseEvmXpub } from '../rails/evm/wallet.ts';
import type { Wallet } from '../store/wallets.ts';
import { projectIdOf, wholeNumber } from './arguments.ts';
import { CommandFailure, done } from './failure.ts';
import { withCointill } from './open.ts';
import { fields, print, printsRecord, type OutputOptions } from './output.ts';

interface SetOptions extends OutputOptions {
  readonly project: string;
  readonly network: string;
  readonly xpub: string;
  readonly confirmations?: number | null;
}

/** Enough to compare with a wallet's own list. */
const SHOWN_ADDRESSES = 3;

/** `cointill wallet set|show`. */
export function addWalletCommands(program: Command): void {
  const wallet = program.command('wallet').description('set the wallets that live payments go to');

  printsRecord(wallet.command('set').description("set a project's wallet on a network by its extended public key"))
    .requiredOption('--project <id>', 'whose wallet')
    .requiredOption('--network <network>', 'such as ethereum')
    .requiredOption('--xpub <xpub>', 'the extended public key of the account; never a private key or recovery phrase')
    .option(
      '--confirmations <n>',
      `blocks that a payment has to wait for (default: ${DEFAULT_CONFIRMATIONS})`,
      wholeNumber(1, 1000),
    )
    .action(({ project, network, xpub, confirmations = null, ...options }: SetOptions) => {
      const request = { projectId: projectIdOf(project), network, xpub, confirmations };
      return withCointill(async ({ app }) => {
        const { wallet } = done(await setProjectWallet(app, request));
        print(options, walletRecord(wallet), () => walletLines(wallet));
      });
    });

  printsRecord(wallet.command('show').description("show a project's wallets and their first addresses"))
    .requiredOption('--project <id>', 'whose wallets')
    .action((options: OutputOptions & { readonly project: string }) => {
      const projectId = projectIdOf(options.project);
      return withCointill(async ({ app }) => {
        const { wallets } = done(await walletsOf(app, projectId));
        print(options, wallets.map(walletRecord), () =>
          wallets.length === 0
            ? ['The project has no wallet yet. Set one with: cointill wallet set']
            : wallets.flatMap((wallet, index) => [...(index === 0 ? [] : ['']), ...walletLines(wallet)]),
        );
      });
    });
}

function firstAddresses(wallet: Wallet): readonly string[] {
  const parsed = parseEvmXpub(wallet.source);
  if (parsed.kind === 'bad') {
    throw new CommandFailure(
      `The stored ${wallet.network} wallet cannot be read. Set it again with: cointill wallet set`,
    );
  }
  return Array.from({ length: SHOWN_ADDRESSES }, (_, index) => parsed.deriver.addressAt(index));
}

function walletRecord(wallet: Wallet): object {
  return {
    project_id: wallet.projectId,
    network: wallet.network,
    kind: wallet.kind,
    xpub: wallet.source,
    confirmations: wallet.confirmations ?? DEFAULT_CONFIRMATIONS,
    next_index: wallet.nextIndex,
    first_addresses: firstAddresses(wallet),
    created_at: isoTime(wallet.createdAt),
  };
}

function walletLines(wallet: Wallet): readonly string[] {
  const confirmations = wallet.confirmations ?? DEFAULT_CONFIRMATIONS;
  return [
    ...fields([
      ['Network', wallet.network],
      ['Extended key', wallet.source],
      ['Confirmations', `${confirmations}${wallet.confirmations === null ? ' (default)' : ''}`],
      ['Next address', `number ${wallet.nextIndex}`],
      ['Set', isoTime(wallet.createdAt)],
    ]),
    '',
    'First addresses; compare them with those that your wallet shows, before money goes there:',
    ...firstAddresses(wallet).map((address, index) => `  ${index}  ${address}`),
  ];
}
