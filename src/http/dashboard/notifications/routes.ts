import type { FastifyInstance } from 'fastify';
import {
  changeChoices,
  changeProjectChoices,
  notificationChoices,
  projectChoices,
  unsubscribe,
  unsubscribeState,
  type UnsubscribeState,
} from '../../../app/notifications/choices.ts';
import { parseUuid } from '../../../domain/id.ts';
import type { NotificationChoices } from '../../../domain/notification.ts';
import { clientAddress } from '../../client.ts';
import { notFound } from '../../errors.ts';
import { done } from '../refusal-words.ts';
import { requireReauthentication } from '../../session-guard.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { ChoicesView, UnsubscribeAnswer } from './contract.ts';
import { signedInOf } from '../scope.ts';

const OWN = { action: 'own_account' } as const;
const ANYBODY = { action: 'anybody' } as const;

/** People's choices of mails, and the links that switch a kind off. */
export function notificationRoutes(routes: Routes, { people: { app: core } }: Dashboard): void {
  const viewOf = async (
    personId: string,
    { walletChanged, weeklyOn, ...same }: NotificationChoices,
  ): Promise<ChoicesView> => ({
    ...same,
    wallet_changed: walletChanged,
    weekly_on: weeklyOn,
    projects: (await projectChoices(core, personId)).map(({ projectId: id, ...chosen }) => ({ id, ...chosen })),
    sends_mail: core.sendsMail === true,
  });
  routes.add('GET /dashboard/api/account/notifications', OWN, async ({ request }) => {
    const { id } = signedInOf(request).person;
    return viewOf(id, await notificationChoices(core, id));
  });
  routes.add('POST /dashboard/api/account/notifications', OWN, async ({ body, own, request }) => {
    const { wallet_changed: walletChanged, weekly_on: weeklyOn, ...same } = body;
    const change = {
      ...same,
      ...(walletChanged === undefined ? {} : { walletChanged }),
      ...(weeklyOn === undefined ? {} : { weeklyOn }),
    };
    // A stolen session must not silence the alarm before it redirects the money.
    if (walletChanged === false) requireReauthentication(signedInOf(request), core.clock());
    const { id } = signedInOf(request).person;
    return viewOf(id, done(await changeChoices(own, id, change)).choices);
  });
  routes.add('POST /dashboard/api/account/notifications/project', OWN, async ({ body, own, request }) => {
    const { id } = signedInOf(request).person;
    const { id: named, ...given } = body;
    const projectId = parseUuid(named);
    if (projectId === null) throw notFound('There is no such project.');
    done(await changeProjectChoices(own, id, projectId, given));
    return viewOf(id, await notificationChoices(core, id));
  });
  routes.add('POST /dashboard/api/unsubscribe/state', ANYBODY, async ({ body }) =>
    unsubscribeView(await unsubscribeState(core, body.token)),
  );
  routes.add('POST /dashboard/api/unsubscribe', ANYBODY, async ({ body, own, request }) =>
    unsubscribeView(await unsubscribe(own, body.token, clientAddress(request))),
  );
  oneClick(routes.app, core);
}

/**
 * The request with which a mail program unsubscribes (RFC 8058): a POST to the address of the page. It comes from no
 * page of ours and without a session; the token permits nothing else.
 */
function oneClick(app: FastifyInstance, core: Dashboard['people']['app']): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { bodyLimit: 8_192, parseAs: 'string' }, (_request, _body, done) => done(null));
    scope.post<{ Params: { token: string } }>(
      '/dashboard/unsubscribe/:token',
      { config: { guard: { kind: 'dashboard', isCounted: true } }, schema: { hide: true } },
      async (request, reply) => {
        const outcome = await unsubscribe(core, request.params.token, clientAddress(request));
        if (outcome.kind === 'unknown') throw notFound('There is no such link. Sign in to choose your notifications.');
        return reply.code(200).type('text/plain; charset=utf-8').send('These e-mails are switched off.\n');
      },
    );
  });
}

function unsubscribeView(state: UnsubscribeState): UnsubscribeAnswer {
  if (state.kind === 'unknown') return { state: 'unknown', notification: null, project: null };
  return { state: state.kind, notification: state.notification, project: state.project };
}
