import { checkWallet, walletOverview } from '../../../app/dashboard/wallet-overview.ts';
import { changePaymentTerms } from '../../../app/projects/payment-terms.ts';
import { previewWallet, setProjectWallet, walletOf, type WalletRequest } from '../../../app/projects/wallets.ts';
import { isNetwork, type Network } from '../../../domain/networks.ts';
import { parsePercent } from '../../../domain/percent.ts';
import { notFound, type RequestError } from '../../errors.ts';
import { badField, done } from '../refusal-words.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { WalletsView } from './contract.ts';
import { overviewView } from './record.ts';

const PROJECT = '/dashboard/api/projects/:project';
const WALLETS = `${PROJECT}/wallets` as const;

const READ = { action: 'read_wallets' } as const;
const MANAGE = { action: 'manage_wallets' } as const;

/** The wallets that a project's live payments go to, and their terms. Changing them requires reauthentication. */
export function walletRoutes(
  routes: Routes,
  { people: { app: core }, serviceHealth, wallets: { chains, openWallet, askNodes } }: Dashboard,
): void {
  const sources = { chains, openWallet, askNodes, serviceHealth };
  const viewOf = async (projectId: string): Promise<WalletsView> => {
    const overview = await walletOverview(core, projectId, sources);
    if (overview === null) throw notFound('There is no such project.');
    return overviewView(overview);
  };

  routes.add(`GET ${WALLETS}`, READ, ({ scope }) => viewOf(scope.projectId));
  routes.add(`POST ${WALLETS}/:network/preview`, MANAGE, async ({ scope: { projectId }, params, body }) => {
    const network = networkOf(params.network);
    const { kind, source: text } = body;
    const preview = done(await previewWallet(core, { projectId, network, source: { kind, text } }, chains));
    return {
      source: preview.source,
      address_kind: preview.addressKind,
      addresses: [...preview.addresses],
      compared: preview.compared,
      note: preview.note,
      warnings: [...preview.warnings],
    };
  });
  routes.add(`POST ${WALLETS}/:network`, MANAGE, async ({ scope: { projectId }, params, body, own }) => {
    const { kind, source: text, compared, version, first_index: firstIndex } = body;
    const wallet: WalletRequest = {
      projectId,
      network: networkOf(params.network),
      source: { kind, text },
      ...termsOf(body),
      firstIndex,
      seen: { version, compared },
    };
    const set = done(await setProjectWallet(own, wallet, chains));
    const { changes, warnings, note } = set;
    return { wallets: await viewOf(projectId), changes: [...changes], warnings: [...warnings], note };
  });
  termsRoutes(routes, { core, chains, viewOf });
  routes.add(`POST ${WALLETS}/:network/check`, READ, async ({ scope: { projectId }, params }) => {
    const checkup = await checkWallet(core, projectId, networkOf(params.network), sources);
    if (checkup === null) throw noWallet();
    const { wallet, addresses, nodes, fault } = checkup;
    return {
      kind: wallet.kind,
      source: wallet.source,
      next_index: wallet.nextIndex,
      addresses: addresses?.map((address, index) => ({ address, is_used: index < wallet.nextIndex })) ?? null,
      nodes: nodes?.map(({ node, height, problem }) => ({ node, height, problem })) ?? null,
      fault,
    };
  });
}

interface TermsParts {
  readonly core: Dashboard['people']['app'];
  readonly chains: Dashboard['wallets']['chains'];
  readonly viewOf: (projectId: string) => Promise<WalletsView>;
}

/** The terms of one wallet, and those of all of a project's payments. */
function termsRoutes(routes: Routes, { core, chains, viewOf }: TermsParts): void {
  routes.add(`POST ${WALLETS}/:network/terms`, MANAGE, async ({ scope: { projectId }, params, body, own }) => {
    const network = networkOf(params.network);
    const found = await walletOf(core, projectId, network);
    if (found.kind === 'rejected') throw noWallet();
    const { kind, source: text } = found.wallet;
    const wallet: WalletRequest = {
      projectId,
      network,
      source: { kind, text },
      ...termsOf(body),
      seen: { version: body.version, compared: null },
    };
    const { changes } = done(await setProjectWallet(own, wallet, chains));
    return { wallets: await viewOf(projectId), changes: [...changes] };
  });
  routes.add(`POST ${PROJECT}/payment-terms`, MANAGE, async ({ scope: { projectId }, body, own }) => {
    const { spread, coins, version, monitoring_hours: monitoringHours } = body;
    const change = {
      version,
      ...(monitoringHours === undefined ? {} : { monitoringHours }),
      ...(spread === undefined ? {} : { spreadBasisPoints: percentOf('spread', spread, 50) }),
      ...(coins === undefined ? {} : { coins: coins?.map(({ coin, is_on: isOn }) => ({ coin, isOn })) ?? null }),
    };
    done(await changePaymentTerms(own, projectId, change));
    return viewOf(projectId);
  });
}

function networkOf(text: string): Network {
  if (!isNetwork(text)) throw notFound('There is no such network.');
  return text;
}

function noWallet(): RequestError {
  return notFound('The project has no wallet on this network.');
}

function termsOf({
  confirmations,
  tolerance,
}: {
  readonly confirmations: number | null;
  readonly tolerance: string | null;
}): Pick<WalletRequest, 'confirmations' | 'toleranceBasisPoints'> {
  return {
    confirmations,
    toleranceBasisPoints: tolerance === null ? null : percentOf('tolerance', tolerance, 10),
  };
}

function percentOf(field: string, text: string, max: number): number {
  const basisPoints = parsePercent(text.trim());
  if (basisPoints === null) throw badField(field, 'percentage', { max });
  return basisPoints;
}
