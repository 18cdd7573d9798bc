import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  changeAllowList,
  isAddressAllowed,
  keyAddresses,
  type KeyAddress,
} from '../../app/projects/change-allow-list.ts';
import { findProject } from '../../store/projects/projects.ts';
import { isoTime } from '../../wire/time.ts';
import { clientAddress } from '../client.ts';
import { notFound } from '../errors.ts';
import type { AccessView, AddressView } from './contract/keys.ts';
import { projectScopeOf } from './project-scope.ts';
import { done } from './refusal-words.ts';
import { addRoute, appFor, type Dashboard } from './route.ts';

const ACCESS = '/dashboard/api/projects/:project/access';

/** From where a project's keys may be used. Changing it asks for a fresh proof, as it decides over live keys. */
export function accessRoutes(app: FastifyInstance, { people: { app: core }, saveKeyUses }: Dashboard): void {
  const CHANGE = { action: 'manage_settings', asksProof: true } as const;
  const viewOf = async (request: FastifyRequest, projectId: string): Promise<AccessView> => {
    // An address that a key was used from a moment ago counts too.
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
  addRoute(app, `GET ${ACCESS}`, { action: 'read_developer' }, ({ params, request }) =>
    viewOf(request, projectScopeOf(request, params).projectId),
  );
  addRoute(app, `POST ${ACCESS}/ips`, CHANGE, async ({ params, body, request }) => {
    const { projectId } = projectScopeOf(request, params);
    await saveKeyUses();
    const outcome = done(await changeAllowList(appFor(core, request), projectId, { list: 'allowIps', ...body }));
    return {
      saved: outcome.kind === 'done',
      refused: outcome.kind === 'would_refuse' ? outcome.addresses.map((one) => addressView(one, false)) : [],
      access: await viewOf(request, projectId),
    };
  });
  addRoute(app, `POST ${ACCESS}/origins`, CHANGE, async ({ params, body, request }) => {
    const { projectId } = projectScopeOf(request, params);
    const change = { list: 'allowOrigins', anyway: false, ...body } as const;
    done(await changeAllowList(appFor(core, request), projectId, change));
    return { access: await viewOf(request, projectId) };
  });
}

function addressView({ address, keys, lastSeenAt }: KeyAddress, isAllowed: boolean): AddressView {
  return { address, keys: [...keys], last_seen_at: isoTime(lastSeenAt), is_allowed: isAllowed };
}
