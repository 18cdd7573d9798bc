import type { FastifyRequest } from 'fastify';
import {
  changeAllowList,
  isAddressAllowed,
  keyAddresses,
  type KeyAddress,
} from '../../../app/projects/change-allow-list.ts';
import { createKey, keyDetails, removeKey, rollKey, type KeyDetails } from '../../../app/projects/keys.ts';
import { rejected } from '../../../app/rejected.ts';
import { decodeId, encodeId } from '../../../domain/id.ts';
import { roleIn, type Role } from '../../../domain/role.ts';
import { findProject } from '../../../store/projects/projects.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { lastUseOf } from '../record-parts.ts';
import { clientAddress } from '../../client.ts';
import { RequestError, notFound } from '../../errors.ts';
import { done } from '../refusal-words.ts';
import { refusalError } from '../../page-sentences.ts';
import type { Dashboard, Routes } from '../route.ts';
import { type ProjectScope, signedInOf } from '../scope.ts';
import type { KeyView, AccessView, AddressView } from './contract.ts';

const KEYS = '/dashboard/api/projects/:project/:mode/keys';

/** API keys of a project and mode. Changing live keys requires reauthentication. */
export function keyRoutes(routes: Routes, { people: { app: core }, baseUrls }: Dashboard): void {
  const MANAGE = { action: 'manage_keys' } as const;
  const list = async (scope: ProjectScope): Promise<readonly KeyView[]> => {
    const now = core.clock();
    return (await keyDetails(core, scope)).map((key) => keyView(key, now));
  };
  const viewOf = async (scope: ProjectScope, id: string): Promise<KeyView> => {
    const key = (await list(scope)).find((one) => one.id === encodeId('key', id));
    if (key === undefined) throw noKey();
    return key;
  };
  routes.add(`GET ${KEYS}`, { action: 'read_developer' }, async ({ scope }) => {
    return { data: [...(await list(scope))], api_url: baseUrls[scope.mode] };
  });
  routes.add(`POST ${KEYS}`, MANAGE, async ({ scope, body, own, request }) => {
    const { projectId, mode } = scope;
    const { name, kind, permission = null, scopes = null } = body;
    const wanted = { projectId, mode, name, kind, permission, scopes, maker: roleOf(request, projectId) };
    const outcome = done(await createKey(own, wanted));
    return { key: await viewOf(scope, outcome.stored.id), text: outcome.key };
  });
  routes.add(`POST ${KEYS}/:key/roll`, MANAGE, async ({ scope, params, body, own, request }) => {
    const wanted = { overlapHours: body.overlap_hours, within: scope, maker: roleOf(request, scope.projectId) };
    const outcome = done(await rollKey(own, keyIdOf(params.key), wanted));
    return { key: await viewOf(scope, outcome.stored.id), text: outcome.key };
  });
  routes.add(`POST ${KEYS}/:key/revoke`, MANAGE, async ({ scope, params, own }) => {
    const id = keyIdOf(params.key);
    const { revokedAt } = done(await removeKey(own, id, scope));
    if (revokedAt !== null) {
      throw new RequestError('conflict_error', 'This key is already revoked and no longer works.');
    }
    return { key: await viewOf(scope, id) };
  });
}

function roleOf(request: FastifyRequest, projectId: string): Role | null {
  return roleIn(signedInOf(request).memberships, projectId);
}

/** The answer is the same for a key that does not exist and one of another project or mode. */
function noKey() {
  return refusalError(rejected('no_key'));
}

function keyIdOf(text: string): string {
  const id = decodeId('key', text);
  if (id === null) throw noKey();
  return id;
}

function keyView(key: KeyDetails, now: number): KeyView {
  const endsAt = key.revokedAt ?? key.endsAt;
  return {
    id: encodeId('key', key.id),
    name: key.name,
    kind: key.kind,
    permission: key.permission,
    scopes: key.scopes === null ? null : [...key.scopes],
    mode: key.mode,
    state: endsAt === null ? 'active' : endsAt > now ? 'ending' : 'ended',
    created_at: isoTime(key.createdAt),
    created_by: actorView(key.createdBy),
    last_used_at: lastUseOf(key),
    ends_at: isoTimeOrNull(endsAt),
    ended_by: actorView(key.endedBy),
    replaced_by: key.successorId === null ? null : encodeId('key', key.successorId),
    clients: key.clients.map((client) => ({
      client: client.client === '' ? null : client.client,
      user_agent: client.userAgent,
      requests: client.requests,
      first_seen_at: isoTime(client.firstSeenAt),
      last_seen_at: isoTime(client.lastSeenAt),
      last_used_at: isoTimeOrNull(client.lastUsedAt),
      last_refused_at: isoTimeOrNull(client.lastRefusedAt),
    })),
  };
}

function actorView(actor: KeyDetails['createdBy']): KeyView['created_by'] {
  return actor === null ? null : { kind: actor.kind, name: actor.name, person_name: actor.personName };
}

const ACCESS = '/dashboard/api/projects/:project/access';

/**
 * The addresses that may use a project's keys. Changing them requires reauthentication, because live keys depend on
 * them.
 */
export function accessRoutes(routes: Routes, { people: { app: core }, saveKeyUses }: Dashboard): void {
  const CHANGE = { action: 'manage_settings', asksReauthentication: true } as const;
  const viewOf = async (request: FastifyRequest, projectId: string): Promise<AccessView> => {
    // An address that used a key a moment ago counts too.
    await saveKeyUses();
    const [project, addresses] = await Promise.all([
      findProject(core.db, projectId),
      keyAddresses(core.db, projectId, core.clock()),
    ]);
    if (project === null) throw notFound('There is no such project.');
    return {
      allow_ips: [...project.allowIps],
      allow_origins: [...project.allowOrigins],
      your_address: clientAddress(request),
      addresses: addresses.map((one) => addressView(one, isAddressAllowed(project.allowIps, one.address))),
    };
  };
  routes.add(`GET ${ACCESS}`, { action: 'read_developer' }, ({ scope, request }) => viewOf(request, scope.projectId));
  routes.add(`POST ${ACCESS}/ips`, CHANGE, async ({ scope: { projectId }, body, own, request }) => {
    await saveKeyUses();
    const outcome = done(await changeAllowList(own, projectId, { list: 'allowIps', ...body }));
    return {
      saved: outcome.kind === 'done',
      refused: outcome.kind === 'would_refuse' ? outcome.addresses.map((one) => addressView(one, false)) : [],
      access: await viewOf(request, projectId),
    };
  });
  routes.add(`POST ${ACCESS}/origins`, CHANGE, async ({ scope: { projectId }, body, own, request }) => {
    const change = { list: 'allowOrigins', anyway: false, ...body } as const;
    done(await changeAllowList(own, projectId, change));
    return { access: await viewOf(request, projectId) };
  });
}

function addressView({ address, keys, lastSeenAt }: KeyAddress, isAllowed: boolean): AddressView {
  return { address, keys: [...keys], last_seen_at: isoTime(lastSeenAt), is_allowed: isAllowed };
}
