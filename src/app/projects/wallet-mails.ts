import type { Trx } from '../../store/database.ts';
import { findProject } from '../../store/projects/projects.ts';
import type { Wallet } from '../../store/wallets/wallets.ts';
import { newId, type App } from '../context.ts';
import { enqueueForOwners } from '../enqueue-mail.ts';

/**
 * Mails all owners where payments go from now on: an intruder who changes a wallet's settings would receive the
 * payments.
 */
export async function mailWalletChange(app: App, trx: Trx, before: Wallet | null, after: Wallet): Promise<void> {
  const { projectId, network } = after;
  const at = app.clock();
  const { actor } = app;
  const name = (await findProject(trx, projectId))?.name ?? '';
  await enqueueForOwners(app, trx, projectId, {
    mailKey: `wallet ${newId(app, at)}`,
    content: {
      kind: 'wallet_changed',
      project: { id: projectId, name },
      network,
      by: actor?.name ?? 'Cointill',
      ip: actor?.ip ?? null,
      at,
      before: before === null ? null : destinationOf(before),
      after: destinationOf(after),
    },
    isWanted: ({ choices }) => choices.walletChanged,
  });
}

/**
 * The address at which the money ends up, as an owner knows it: the treasury, not a contract between it and customers.
 */
function destinationOf({ kind, source, firstAddress }: Wallet): string {
  return kind === 'treasury' ? source : firstAddress;
}
