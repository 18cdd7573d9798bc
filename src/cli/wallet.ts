import type { Command } from 'commander';
import { otherChain } from '../modes/locked-issuer.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS } from '../modes/rail.ts';
import { confirmationTiers, firstAddresses, setProjectWallet, walletOf, walletsOf } from '../app/projects/wallets.ts';
import { GAP_LIMIT, NETWORKS } from '../domain/networks.ts';
import { messageOf } from '../http/ways-out.ts';
import { isoTime } from '../wire/time.ts';
import type { Cointill } from '../service/core.ts';
import type { WalletSource } from '../rails/family.ts';
import { gapInWords, type Wallet } from '../store/wallets/wallets.ts';
import { oneOf, percentage, projectIdOf, wholeNumber } from './arguments.ts';
import { CommandFailure, UsageFailure } from './failure.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { fields } from '../wire/fields.ts';
import { addTermsCommand } from './wallet-terms.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

interface SetOptions extends OutputOptions {
  readonly project: string;
  readonly network: string;
  readonly xpub?: string;
  readonly descriptor?: string;
  readonly treasury?: string;
  readonly confirmations?: number;
  readonly tolerance?: number;
  readonly firstIndex?: number;
}

/** Enough to compare with a wallet's own list. */
const SHOWN_ADDRESSES = 3;

/** `cointill wallet set|show|check|terms`. */
export function addWalletCommands(wallet: Command): void {
  addSet(wallet);
  addShow(wallet);
  addCheck(wallet);
  addTermsCommand(wallet);
}

function addSet(wallet: Command): void {
  printsRecord(
    wallet
      .command('set')
      .description("set a project's wallet on a network; never give a private key or recovery phrase"),
  )
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .requiredOption('--network <network>', oneOf(NETWORKS))
    .option('--xpub <xpub>', 'the extended public key of the account: xpub…, ypub…, zpub…, Ltub… and the like')
    .option('--descriptor <descriptor>', 'an output descriptor: wpkh([…]xpub…/0/*), tr(…), sh(wpkh(…)) or pkh(…)')
    .option('--treasury <0x…>', 'EVM networks: the only address that the deposit contracts can pay out to')
    .option(
      '--confirmations <n>',
      'confirmations that a payment needs (default: depends on the amount)',
      wholeNumber(1, 10_000),
    )
    .option(
      '--tolerance <percent>',
      `how far a payment may differ from the amount due and still count as exact (default: ${DEFAULT_TOLERANCE_BASIS_POINTS / 100})`,
      percentage,
    )
    .option(
      '--first-index <n>',
      'for a wallet that was used before: the number of its first unused address',
      wholeNumber(0, 100_000_000),
    )
    .action(({ project: projectId, network, confirmations, tolerance, firstIndex, ...options }: SetOptions) => {
      const source = sourceOf(options);
      return withCointill(async (cointill) => {
        const { app, chains } = cointill;
        const request = {
          projectId,
          network,
          source,
          confirmations: confirmations ?? null,
          toleranceBasisPoints: tolerance ?? null,
          firstIndex: firstIndex ?? null,
        };
        const { wallet, note, changes, warnings } = done(await setProjectWallet(app, request, chains));
        const first = await addressesOf(wallet, cointill, SHOWN_ADDRESSES);
        print(options, { ...walletRecord(wallet, first), note, changes, warnings }, () => [
          ...walletLines(wallet, first),
          ...[...changes, ...warnings.map((warning) => `Note: ${warning}`), ...(note === null ? [] : [note])].flatMap(
            (text) => ['', text],
          ),
        ]);
      });
    });
}

function addShow(wallet: Command): void {
  printsRecord(wallet.command('show').description("show a project's wallets and their first addresses"))
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .action((options: OutputOptions & { readonly project: string }) =>
      withCointill(async (cointill) => {
        const { wallets } = done(await walletsOf(cointill.app, options.project));
        const shown: { wallet: Wallet; first: readonly string[] }[] = [];
        for (const wallet of wallets) {
          shown.push({ wallet, first: await addressesOf(wallet, cointill, SHOWN_ADDRESSES) });
        }
        print(
          options,
          shown.map(({ wallet, first }) => walletRecord(wallet, first)),
          () =>
            shown.length === 0
              ? ['The project has no wallet yet. Set one with: cointill wallet set']
              : shown.flatMap(({ wallet, first }, index) => [
                  ...(index === 0 ? [] : ['']),
                  ...walletLines(wallet, first),
                ]),
        );
      }),
    );
}

function addCheck(wallet: Command): void {
  printsRecord(
    wallet.command('check').description('show the addresses that payments will get, to compare with your wallet'),
  )
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .requiredOption('--network <network>', 'the network of the wallet')
    .option('--count <n>', 'how many addresses', wholeNumber(1, 1000), 5)
    .action((options: OutputOptions & { readonly project: string; readonly network: string; readonly count: number }) =>
      withCointill(async (cointill) => {
        const { wallet } = done(await walletOf(cointill.app, options.project, options.network));
        const addresses = await addressesOf(wallet, cointill, options.count);
        const record = addresses.map((address, index) => ({ index, address, used: index < wallet.nextIndex }));
        print(options, { network: wallet.network, next_index: wallet.nextIndex, addresses: record }, () => [
          `The first ${addresses.length} addresses on ${wallet.network}. ${COMPARE[wallet.kind]}`,
          ...record.map(({ index, address, used }) => `  ${index}  ${address}${used ? '  (handed out)' : ''}`),
        ]);
      }),
    );
}

function sourceOf({ xpub, descriptor, treasury }: Pick<SetOptions, 'xpub' | 'descriptor' | 'treasury'>): WalletSource {
  const sources = [
    { kind: 'xpub', text: xpub } as const,
    { kind: 'descriptor', text: descriptor } as const,
    { kind: 'treasury', text: treasury } as const,
  ].flatMap(({ kind, text }) => (text === undefined ? [] : [{ kind, text }]));
  const [source] = sources;
  if (source === undefined || sources.length > 1) {
    throw new UsageFailure(
      'Give exactly one of --xpub, --descriptor and --treasury: an extended public key, an output descriptor, or (EVM networks) the address that deposit contracts pay out to.',
    );
  }
  return source;
}

async function addressesOf(wallet: Wallet, { app, openWallet }: Cointill, count: number): Promise<readonly string[]> {
  const addresses = await firstAddresses(app, openWallet, wallet, count);
  if (addresses === null) throw new CommandFailure(messageOf(otherChain(wallet.network)));
  return addresses;
}

function walletRecord(wallet: Wallet, first: readonly string[]): object {
  return {
    project_id: wallet.projectId,
    network: wallet.network,
    kind: wallet.kind,
    [wallet.kind]: wallet.source,
    confirmations: wallet.confirmations,
    confirmation_tiers: confirmationTiers(wallet).map(({ belowUsdCents, confirmations }) => ({
      below_usd: belowUsdCents === null ? null : Number(belowUsdCents / 100n),
      confirmations,
    })),
    tolerance_percent: (wallet.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS) / 100,
    next_index: wallet.nextIndex,
    gap: wallet.gap,
    first_addresses: first,
    created_at: isoTime(wallet.createdAt),
  };
}

const COMPARE = {
  xpub: 'Check that your wallet shows the same addresses in this order, before any customer pays to them:',
  descriptor: 'Check that your wallet shows the same addresses in this order, before any customer pays to them:',
  treasury:
    "These are deposit contracts, which can pay out only to the treasury. No wallet shows them, so compare the treasury's address instead.",
} as const;
const KIND_NAMES = { xpub: 'Extended key', descriptor: 'Descriptor', treasury: 'Treasury' } as const;

function walletLines(wallet: Wallet, first: readonly string[]): readonly string[] {
  const tiers = confirmationTiers(wallet).map(({ belowUsdCents, confirmations }) =>
    belowUsdCents === null ? `${confirmations}` : `${confirmations} below ${belowUsdCents / 100n} USD`,
  );
  return [
    ...fields([
      ['Network', wallet.network],
      [KIND_NAMES[wallet.kind], wallet.source],
      ['Confirmations', `${tiers.join(', ')}${wallet.confirmations === null ? ' (default)' : ''}`],
      ['Tolerance', `${(wallet.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS) / 100} %`],
      ['Next address', `number ${wallet.nextIndex}`],
      ['Unpaid gap', gapText(wallet)],
      ['Set', isoTime(wallet.createdAt)],
    ]),
    '',
    `First addresses. ${COMPARE[wallet.kind]}`,
    ...first.map((address, index) => `  ${index}  ${address}`),
  ];
}

function gapText(wallet: Wallet): string {
  const { kind, gap } = wallet;
  const { count, limit } = gapInWords(wallet);
  if (kind === 'treasury') return count;
  return gap <= GAP_LIMIT
    ? `${count} addresses after the last paid address`
    : `${count} addresses after the last paid address. Raise your wallet's gap limit to ${limit} or more, so that the wallet finds later payments`;
}
