import type { Network } from '../../domain/networks.ts';
import type { AuditValues } from '../../store/people/audit.ts';
import type { Trx } from '../../store/database.ts';
import { wake } from '../../store/wake.ts';
import { findProject } from '../../store/projects/projects.ts';
import { moveSweepTransfers, setSweepTransfers, transfersOfSweeps } from '../../store/sweeps/sweep-transfers.ts';
import {
  deleteSweep,
  insertSweep,
  lockSweep,
  lockSweeps,
  sweepByTransaction,
  updateSweep,
  type Sweep,
  type SweepChange,
} from '../../store/sweeps/sweeps.ts';
import { recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { inTransaction } from '../in-transaction.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { ASKED_MS, LOST_MS } from './follow-sweeps.ts';
import { depositsOverview } from './overview.ts';

interface Begun {
  readonly kind: 'done';
  readonly sweep: Sweep;
}

/**
 * Assigns a call of the plan to one person's wallet: from now on it is offered to nobody else until it is mined, given
 * up, or unanswered for too long. Refused if it is no longer offered as it was shown.
 */
export function beginSweep(
  app: App,
  request: { readonly projectId: string; readonly network: Network; readonly key: string },
): Promise<Begun | Rejected> {
  const { projectId, network, key } = request;
  return inTransaction(app, async (trx) => {
    await lockSweeps(trx, projectId);
    const project = await findProject(trx, projectId);
    if (project === null) return noProject(projectId);
    const deposits = await depositsOverview(trx, projectId, project.sweepMinUsdCents);
    const offered = deposits.find((one) => one.network === network)?.calls.find((one) => one.key === key);
    if (offered === undefined) return rejected('sweep_not_offered');
    if (!offered.isReady) return rejected('no_factory');
    const now = app.clock();
    const { call, takes } = offered;
    const sweep: Sweep = {
      id: newId(app, now),
      projectId,
      network,
      purpose: call.purpose,
      source: 'dashboard',
      state: 'asked',
      treasury: call.purpose === 'sweep' ? call.treasury : null,
      personId: app.actor?.kind === 'person' ? app.actor.id : null,
      sender: null,
      callTo: call.to,
      callData: call.data,
      transactionHash: null,
      problem: null,
      createdAt: now,
      sentAt: null,
      height: null,
      blockHash: null,
      minedAt: null,
      gasUsed: null,
      feeUnits: null,
      feeUsdCents: null,
      finalAt: null,
      checkAt: now + ASKED_MS,
    };
    await insertSweep(trx, sweep);
    await setSweepTransfers(
      trx,
      sweep,
      takes.map((balance) => ({ ...balance, state: 'open', usdCents: null })),
    );
    const after = { network, purpose: call.purpose, treasury: sweep.treasury, deposits: new Set(call.indexes).size };
    await audit(app, trx, 'sweep.ask', sweep, after);
    await wake(trx, ['sweeps', projectId]);
    return { kind: 'done', sweep };
  });
}

interface SweepKey {
  readonly projectId: string;
  readonly id: string;
}

interface Sent {
  readonly hash: string | null;
  readonly sender: string | null;
}

/**
 * Records that the wallet has sent the sweep; without a hash, the chain shows its outcome later. A hash that no node
 * has ever had may be replaced by another one; `isKnown` asks the nodes, and if none answers, their earlier answer
 * counts.
 */
export async function sweepSent(
  app: App,
  key: SweepKey,
  sent: Sent,
  isKnown: (network: Network, hash: string) => Promise<boolean> = () => Promise.resolve(false),
): Promise<Begun | Rejected> {
  const outcome = await saveSent(app, key, sent, null);
  if (outcome.kind !== 'replaces') return outcome;
  const { network, old } = outcome;
  if (await isKnown(network, old)) return rejected('sweep_known');
  const replaced = await saveSent(app, key, sent, old);
  return replaced.kind === 'replaces' ? rejected('sweep_known') : replaced;
}

/** Saves the transaction. `unknown` is the hash that may be replaced. */
function saveSent(
  app: App,
  { projectId, id }: SweepKey,
  { hash, sender }: Sent,
  unknown: string | null,
): Promise<Begun | Rejected | { readonly kind: 'replaces'; readonly network: Network; readonly old: string }> {
  return inTransaction(app, async (trx) => {
    await lockSweeps(trx, projectId);
    const sweep = await lockSweep(trx, projectId, id);
    if (sweep === null) return rejected('no_sweep');
    const { network, state, transactionHash: old } = sweep;
    if (old !== null && old === hash) return { kind: 'done', sweep };
    // A sweep that was given up or lost may have been sent nevertheless.
    const mayBe = state === 'asked' || state === 'sent' || state === 'ended';
    if (!mayBe || (old !== null && hash === null)) return rejected('sweep_known');
    const existing = hash === null ? null : await transactionOf(app, trx, { ...sweep, transactionHash: hash });
    if (existing !== null && !(await isFoundOf(trx, sweep, existing)))
      return rejected('sweep_hash_taken', { param: 'hash' });
    if (old !== null && old !== unknown) return { kind: 'replaces', network, old };
    const now = app.clock();
    const sending = { state: 'sent', transactionHash: hash, sender, sentAt: now, problem: null, checkAt: now } as const;
    if (existing !== null) {
      await moveSweepTransfers(trx, existing, sweep);
      await deleteSweep(trx, existing);
    }
    const change = existing === null ? sending : { ...factsOf(existing), sentAt: now };
    await updateSweep(trx, sweep, change);
    const before = old === null ? null : { network, transaction_hash: old };
    await audit(app, trx, 'sweep.send', sweep, { network, transaction_hash: hash }, before);
    return { kind: 'done', sweep: { ...sweep, ...change } };
  });
}

/**
 * Gives up a sweep that the wallet did not send, or whose transaction no node has had for `LOST_MS`: its deposits are
 * offered again.
 */
export function giveUpSweep(app: App, { projectId, id }: SweepKey): Promise<Begun | Rejected> {
  return inTransaction(app, async (trx) => {
    await lockSweeps(trx, projectId);
    const sweep = await lockSweep(trx, projectId, id);
    if (sweep === null) return rejected('no_sweep');
    if (sweep.state === 'ended') return { kind: 'done', sweep };
    const isLost = sweep.state === 'sent' && app.clock() - (sweep.sentAt ?? sweep.createdAt) >= LOST_MS;
    if (sweep.state !== 'asked' && !isLost) return rejected(sweep.state === 'sent' ? 'sweep_sent' : 'sweep_known');
    const change = { state: 'ended', problem: isLost ? 'lost' : 'declined', checkAt: null } as const;
    await updateSweep(trx, sweep, change);
    await audit(app, trx, 'sweep.end', sweep, { network: sweep.network });
    return { kind: 'done', sweep: { ...sweep, ...change } };
  });
}

/**
 * Finds the sweep of a transaction. Detaches a sweep that named this hash but neither moved its deposits nor made its
 * call.
 */
export async function transactionOf(
  app: App,
  trx: Trx,
  key: Parameters<typeof sweepByTransaction>[1],
): Promise<Sweep | null> {
  const sweep = await sweepByTransaction(trx, key);
  // The fee is known only if the sweep made its own call.
  if (sweep?.problem !== 'paid_nothing' || sweep.feeUnits !== null) return sweep;
  await updateSweep(trx, sweep, { transactionHash: null, finalAt: sweep.finalAt ?? app.clock(), checkAt: null });
  return null;
}

/** Whether a sweep found on the chain before its hash was given is this sweep: it took some of the same deposits. */
async function isFoundOf(trx: Trx, sweep: Sweep, found: Sweep): Promise<boolean> {
  if (found.source !== 'chain') return false;
  const transfers = await transfersOfSweeps(trx, [sweep.id, found.id]);
  const taken = new Set(transfers.get(found.id)?.map(({ address, token }) => `${address} ${token}`));
  return (transfers.get(sweep.id) ?? []).some(({ address, token }) => taken.has(`${address} ${token}`));
}

/** The facts that the chain has shown of a transaction. */
function factsOf(found: Sweep): SweepChange {
  const { state, sender, transactionHash, problem, height, blockHash, minedAt, checkAt } = found;
  const { gasUsed, feeUnits, feeUsdCents, finalAt } = found;
  const block = { height, blockHash, minedAt, gasUsed, feeUnits, feeUsdCents, finalAt, checkAt };
  return { state, sender, transactionHash, problem, ...block };
}

function audit(
  app: App,
  trx: Trx,
  action: string,
  { id, projectId }: Sweep,
  after: AuditValues,
  before: AuditValues | null = null,
): Promise<void> {
  return recordAudit(app, trx, { action, projectId, subject: { kind: 'sweep', id }, before, after });
}
