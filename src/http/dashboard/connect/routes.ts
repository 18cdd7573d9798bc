import type { FastifyRequest } from 'fastify';
import { createKeyOnce } from '../../../app/projects/keys.ts';
import { rejected } from '../../../app/rejected.ts';
import type { KeyGrant, Mode } from '../../../domain/permission.ts';
import { beyondRole, keyRefusalOf, MANAGE_KEYS, mayDo, roleIn, type Role } from '../../../domain/role.ts';
import { printableLine } from '../../../domain/visible.ts';
import { listProjects } from '../../../store/projects/projects.ts';
import { notFound, type RequestError } from '../../errors.ts';
import { refusalError, roleError, sentenceError } from '../../page-sentences.ts';
import { done } from '../refusal-words.ts';
import type { Dashboard, Routes } from '../route.ts';
import { formRequest, notAgain, signedInOf } from '../scope.ts';
import { readAsked, type Asked } from './read-asked.ts';

/** The longest name of a key. */
const MAX_NAME = 100;

/** The page where a person consents to a key for a shop's plugin. */
export function connectRoutes(routes: Routes, { people: { app: core }, isProduction }: Dashboard): void {
  const read = (query: string): Asked => {
    const asked = readAsked(query, isProduction);
    if (asked.kind === 'asked') return asked;
    throw sentenceError('invalid_request_error', asked.fault.code, asked.fault.values);
  };
  routes.add('GET /dashboard/api/connect', { action: 'own_account' }, async ({ query, request }) => {
    const asked = read(query.asked ?? '');
    const { host, application, scopes } = asked;
    const projects = (await listProjects(core.db)).flatMap(({ id, name, active }) => {
      const role = active && isAskedFor(asked, id) ? roleOf(request, id) : null;
      return role === null ? [] : [{ id, name, refusal: refusalToMake(role, query.mode, asked) }];
    });
    const permitted = projects.filter(({ refusal }) => refusal === null);
    if (permitted.length === 0) throw projects[0]?.refusal ?? roleError(null, MANAGE_KEYS[query.mode]);
    return { host, application, scopes: [...scopes], projects: permitted.map(({ id, name }) => ({ id, name })) };
  });
  const CONSENT = 'POST /dashboard/api/projects/:project/:mode/connect';
  routes.add(CONSENT, { action: 'manage_keys' }, async ({ scope, body, own, request }) => {
    const { projectId, mode, role } = scope;
    const asked = read(body.asked);
    if (!isAskedFor(asked, projectId)) throw notFound('There is no such project.');
    const wanted = { projectId, mode, name: nameOf(asked), ...grantOf(asked), maker: role };
    const outcome = await createKeyOnce(own, wanted, formRequest(request, scope, body.request));
    if (outcome.kind === 'replayed') throw sentenceError('conflict_error', 'connect_done');
    if (outcome.kind === 'key_reused' || outcome.kind === 'still_running') throw notAgain(outcome.kind);
    const { key } = done(outcome);
    const { redirect, permissions } = asked;
    return {
      redirect,
      fields: [
        { name: 'apiKey', value: key },
        ...permissions.map((permission) => ({ name: 'permissions[]', value: `${permission}:${projectId}` })),
        { name: 'userId', value: signedInOf(request).person.id },
      ],
    };
  });
}

const isAskedFor = ({ projectId }: Asked, id: string): boolean => projectId === null || projectId === id;

const roleOf = (request: FastifyRequest, projectId: string): Role | null =>
  roleIn(signedInOf(request).memberships, projectId);

function grantOf({ scopes }: Asked): KeyGrant {
  return { kind: 'secret', permission: null, scopes };
}

/** The host stands in the name too, because the application may claim any. */
function nameOf({ application, host }: Asked): string {
  return printableLine(application === null ? host : `${application} (${host})`, MAX_NAME - 1);
}

/** Why a person may not make the key; null: they may. */
function refusalToMake(role: Role, mode: Mode, asked: Asked): RequestError | null {
  if (!mayDo(role, MANAGE_KEYS[mode])) return roleError(role, MANAGE_KEYS[mode]);
  const action = beyondRole(role, { ...grantOf(asked), mode });
  return action === null ? null : refusalError(rejected('beyond_role', keyRefusalOf(role, action)));
}
