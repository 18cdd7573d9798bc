import type { Network } from '../domain/asset.ts';
import { isNetwork, NETWORKS } from '../domain/asset.ts';
import { parseEvmXpub } from '../rails/evm/wallet.ts';
import { findProject } from '../store/projects.ts';
import { listWallets, setWallet, type Wallet } from '../store/wallets.ts';
import { newId, type App } from './context.ts';
import type { Rejected } from './projects.ts';

const MAX_CONFIRMATIONS = 1_000;

/** Networks that a wallet can be set for. */
const WALLET_NETWORKS: readonly Network[] = ['ethereum'];

/** Sets what a project's addresses are derived from. A private key is refused before anything is stored. */
export async function setProjectWallet(
  app: App,
  request: {
    readonly projectId: string;
    readonly network: string;
    readonly xpub: string;
    readonly confirmations: number | null;
  },
): Promise<{ readonly kind: 'done'; readonly wallet: Wallet; readonly firstAddresses: readonly string[] } | Rejected> {
  const { network, confirmations } = request;
  if (!isNetwork(network) || !WALLET_NETWORKS.includes(network)) {
    const planned = NETWORKS.filter((name) => !WALLET_NETWORKS.includes(name)).join(', ');
    return { kind: 'rejected', message: `--network must be ${WALLET_NETWORKS.join(', ')}; not yet: ${planned}.` };
  }
  const parsed = parseEvmXpub(request.xpub);
  if (parsed.kind === 'bad') return { kind: 'rejected', message: `--xpub: ${parsed.message}` };
  if (
    confirmations !== null &&
    !(Number.isInteger(confirmations) && confirmations >= 1 && confirmations <= MAX_CONFIRMATIONS)
  ) {
    return { kind: 'rejected', message: `--confirmations must be a whole number from 1 to ${MAX_CONFIRMATIONS}.` };
  }
  const now = app.clock();
  return app.db.transaction().execute(async (trx) => {
    if ((await findProject(trx, request.projectId)) === null) {
      const message = `There is no project ${request.projectId}. List them with: cointill project list`;
      return { kind: 'rejected', message };
    }
    await setWallet(trx, {
      id: newId(app, now),
      projectId: request.projectId,
      network,
      kind: 'xpub',
      source: parsed.xpub,
      firstAddress: parsed.deriver.addressAt(0),
      confirmations,
      createdAt: now,
    });
    const wallet = (await listWallets(trx, request.projectId)).find((candidate) => candidate.network === network);
    if (wallet === undefined) throw new Error('The wallet that was just set is not there.');
    return { kind: 'done', wallet, firstAddresses: [0, 1, 2].map((index) => parsed.deriver.addressAt(index)) };
  });
}

export async function walletsOf(
  app: App,
  projectId: string,
): Promise<{ readonly kind: 'done'; readonly wallets: readonly Wallet[] } | Rejected> {
  if ((await findProject(app.db, projectId)) === null) {
    return { kind: 'rejected', message: `There is no project ${projectId}. List them with: cointill project list` };
  }
  return { kind: 'done', wallets: await listWallets(app.db, projectId) };
}
