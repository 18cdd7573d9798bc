import type { App } from '../../../app/context.ts';
import { rejected } from '../../../app/rejected.ts';
import { isKnownBy, type SweepChains } from '../../../app/sweeps/chain.ts';
import { depositsOverview, withTransfers } from '../../../app/sweeps/overview.ts';
import { beginSweep, giveUpSweep, sweepSent } from '../../../app/sweeps/send-sweep.ts';
import { parseUuid } from '../../../domain/id.ts';
import { formatDecimal } from '../../../domain/money.ts';
import { findProject } from '../../../store/projects/projects.ts';
import { endedSweeps, openSweeps, sendersOf, type Sweep } from '../../../store/sweeps/sweeps.ts';
import { invalid, notFound, RequestError } from '../../errors.ts';
import { badField, done } from '../refusal-words.ts';
import { refusalError } from '../../page-sentences.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { ProjectScope } from '../scope.ts';
import type { SweepsOverview, SweepView } from './contract.ts';
import { networkView, sweepView, type SweepViewing } from './record.ts';
import { keysetOf, listOf } from '../record-parts.ts';

const SWEEPS = '/dashboard/api/projects/:project/:mode/sweeps';

/** The page of sweeps. */
export function sweepRoutes(routes: Routes, { people: { app: core }, deposits }: Dashboard): void {
  const READ = { action: 'read_wallets' } as const;
  const SEND = { action: 'send_sweeps' } as const;
  const overview = (projectId: string) => overviewOf(core, deposits.chains, projectId);
  const viewOf = async (projectId: string, sweep: Sweep): Promise<SweepView> => {
    const [view] = await viewsOf(await viewingOf(core, deposits.chains, projectId), [sweep]);
    if (view === undefined) throw noSweep();
    return view;
  };
  routes.add(`GET ${SWEEPS}`, READ, ({ scope }) => overview(liveProject(scope)));
  routes.add(`POST ${SWEEPS}/check`, READ, async ({ scope }) => {
    const projectId = liveProject(scope);
    if ((await deposits.refresh(projectId)) === 'busy') {
      const message = 'The nodes are already being queried for this project. The page will show their answer.';
      throw new RequestError('conflict_error', message);
    }
    return overview(projectId);
  });
  routes.add(`GET ${SWEEPS}/history`, READ, async ({ scope, query }) => {
    const projectId = liveProject(scope);
    const page = keysetOf(query, parseUuid);
    const { data: shown, next } = listOf(
      await endedSweeps(core.db, projectId, page),
      page,
      (sweep) => sweep,
      ({ id }) => id,
    );
    return { data: await viewsOf(await viewingOf(core, deposits.chains, projectId), shown), next };
  });
  routes.add(`POST ${SWEEPS}`, SEND, async ({ scope, body, own }) => {
    const projectId = liveProject(scope);
    if (deposits.chains(body.network) === null)
      throw invalid('network', 'The network has no node, so no sweep can be planned.');
    const { sweep } = done(await beginSweep(own, { projectId, ...body }));
    return viewOf(projectId, sweep);
  });
  routes.add(`POST ${SWEEPS}/:sweep/sent`, SEND, async ({ scope, params, body, own }) => {
    const projectId = liveProject(scope);
    const sent = { hash: hashOf(body.hash), sender: body.sender?.toLowerCase() ?? null };
    const key = { projectId, id: sweepId(params.sweep) };
    const isKnown = (network: string, hash: string) => isKnownBy(deposits.chains(network), hash);
    const { sweep } = done(await sweepSent(own, key, sent, isKnown));
    return viewOf(projectId, sweep);
  });
  routes.add(`POST ${SWEEPS}/:sweep/give-up`, SEND, async ({ scope, params, own }) => {
    const projectId = liveProject(scope);
    const { sweep } = done(await giveUpSweep(own, { projectId, id: sweepId(params.sweep) }));
    return viewOf(projectId, sweep);
  });
}

function liveProject({ projectId, mode }: ProjectScope): string {
  if (mode === 'live') return projectId;
  throw notFound('Test payments move no money, so there is nothing to sweep in test mode.');
}

async function viewingOf(app: App, chains: SweepChains, projectId: string): Promise<SweepViewing> {
  const project = await findProject(app.db, projectId);
  return { app, chains, minUsdCents: project?.sweepMinUsdCents ?? 0n };
}

async function overviewOf(app: App, chains: SweepChains, projectId: string): Promise<SweepsOverview> {
  const viewing = await viewingOf(app, chains, projectId);
  const networks = await depositsOverview(app.db, projectId, viewing.minUsdCents);
  return {
    minimum_usd: formatDecimal(viewing.minUsdCents, 2),
    networks: networks.map((one) => networkView(viewing, one)),
    open: await viewsOf(viewing, await openSweeps(app.db, projectId)),
  };
}

async function viewsOf(viewing: SweepViewing, sweeps: readonly Sweep[]): Promise<SweepView[]> {
  const { db } = viewing.app;
  const [all, senders] = await Promise.all([withTransfers(db, sweeps), sendersOf(db, sweeps)]);
  return all.map((one) => sweepView(viewing, one, senders));
}

function hashOf(text: string | null): string | null {
  if (text === null) return null;
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw badField('hash', 'transaction_hash', {});
}

function sweepId(text: string): string {
  const id = parseUuid(text);
  if (id === null) throw noSweep();
  return id;
}

function noSweep(): RequestError {
  return refusalError(rejected('no_sweep'));
}
