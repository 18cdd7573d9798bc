import { listKeys } from '../../store/projects/api-keys.ts';
import type { Database } from '../../store/database.ts';
import { keyClients } from '../../store/projects/key-clients.ts';
import { findProject, lockProject, type Project } from '../../store/projects/projects.ts';
import type { App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { compileCidrs, isOn } from './allow-list.ts';
import { saveProjectChanges } from './projects.ts';
import { checkRequest } from './project-request.ts';

/** An address that a project's secret keys were used from recently. */
export interface KeyAddress {
  readonly address: string;
  /** The names of the working keys that were used from it. */
  readonly keys: readonly string[];
  readonly lastSeenAt: number;
}

/** Addresses from which the project's working secret keys were used in the last 30 days, latest first. */
export async function keyAddresses(db: Database, projectId: string, now: number): Promise<readonly KeyAddress[]> {
  const keys = (await listKeys(db, projectId)).filter(
    ({ kind, revokedAt, endsAt }) => kind === 'secret' && revokedAt === null && (endsAt === null || endsAt > now),
  );
  const addresses = new Map<string, { keys: string[]; lastSeenAt: number }>();
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  for (const { keyId, client, lastUsedAt, lastSeenAt } of await keyClients(db, [...names.keys()])) {
    if (client === '' || lastUsedAt === null) continue;
    const one = addresses.get(client) ?? { keys: [], lastSeenAt };
    one.keys.push(names.get(keyId) ?? '');
    addresses.set(client, one);
  }
  return [...addresses]
    .map(([address, rest]) => ({ address, ...rest }))
    .toSorted((a, b) => b.lastSeenAt - a.lastSeenAt);
}

/** Whether a list allows an address; an empty list allows all. */
export function isAddressAllowed(allowIps: readonly string[], address: string): boolean {
  return allowIps.length === 0 || isOn(compileCidrs(allowIps), address);
}

interface ListChange {
  readonly list: 'allowIps' | 'allowOrigins';
  readonly values: readonly string[];
  /** The list that the person saw. */
  readonly before: readonly string[];
  /** Whether to save although the list refuses addresses that used keys. */
  readonly anyway: boolean;
}

export type ListOutcome =
  | { readonly kind: 'done'; readonly project: Project }
  /** Nothing was saved: the list would refuse these addresses, and the shop's server may be among them. */
  | { readonly kind: 'would_refuse'; readonly addresses: readonly KeyAddress[] }
  | Rejected;

/** Changes one of a project's lists of addresses from which its keys may be used. */
export async function changeAllowList(
  app: App,
  projectId: string,
  { list, values, before, anyway }: ListChange,
): Promise<ListOutcome> {
  const newList = [...new Set(values.map((value) => value.trim()).filter((value) => value !== ''))];
  const checked = checkRequest({ [list]: newList });
  if (checked.kind === 'rejected') return checked;
  const refused =
    list === 'allowOrigins' || anyway
      ? []
      : (await keyAddresses(app.db, projectId, app.clock())).filter(
          ({ address }) => !isAddressAllowed(newList, address),
        );
  return app.db.transaction().execute(async (trx): Promise<ListOutcome> => {
    await lockProject(trx, projectId);
    const project = await findProject(trx, projectId);
    if (project === null) return noProject(projectId);
    if (project[list].join('\n') !== before.join('\n')) return rejected('list_changed');
    if (refused.length > 0) return { kind: 'would_refuse', addresses: refused };
    return { kind: 'done', project: await saveProjectChanges(app, trx, project, checked.changes) };
  });
}
