import type { FastifyInstance, FastifyRequest } from 'fastify';
import { compileCidrs, isOn } from '../../../app/projects/allow-list.ts';
import { MODES, type Mode } from '../../../domain/permission.ts';
import { clientAddress } from '../../client.ts';
import { notFound, RequestError } from '../../errors.ts';
import { sendFile, type ServedFile } from '../../served-file.ts';
import { UNREACHABLE } from '../../session-guard.ts';
import { readAsked } from './read-asked.ts';

const hidden = { hide: true } as const;

/** The query of a request as it was sent, without `?`. */
function queryOf({ url }: FastifyRequest): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/**
 * The page that asks a person for consent. It may post a form to the origin of its own `redirect`, and nowhere else; a
 * bad question leaves it none.
 */
export function connectPage(app: FastifyInstance, document: ServedFile, isProduction: boolean): void {
  const guard = { kind: 'dashboard', isCounted: true } as const;
  const options = { config: { guard }, schema: hidden } as const;
  app.get<{ Params: { mode: string } }>('/dashboard/connect/:mode', options, (request, reply) => {
    if (!MODES.some((mode) => mode === request.params.mode)) throw notFound('The mode must be test or live.');
    const asked = readAsked(queryOf(request), isProduction);
    const target = asked.kind === 'asked' ? asked.origin : "'none'";
    const policy = (document.headers['content-security-policy'] ?? '').replace(
      "form-action 'none'",
      `form-action ${target}`,
    );
    return sendFile(request, reply, {
      ...document,
      // Not kept: the policy belongs to this question, and the tag to the document alone.
      headers: { ...document.headers, 'content-security-policy': policy, 'cache-control': 'no-store' },
    });
  });
}

export interface AuthorizeOptions {
  /** The mode of the address, and of the keys that are made. */
  readonly side: Mode;
  /** Null: there is none. */
  readonly dashboard: { readonly url: string; readonly allowCidrs: readonly string[] | null } | null;
}

/** `GET /api-keys/authorize` at both addresses, where plugins send their merchant: leads to the dashboard's page. */
export function authorizeRoute({ side, dashboard }: AuthorizeOptions): (app: FastifyInstance) => void {
  const cidrs = dashboard?.allowCidrs ?? null;
  const allowed = cidrs === null ? null : compileCidrs(cidrs);
  return (app) => {
    // The plugin of Shopware ends the path with a slash.
    for (const path of ['/api-keys/authorize', '/api-keys/authorize/'])
      app.get(path, { config: { guard: { kind: 'page' } }, schema: hidden }, async (request, reply) => {
        if (dashboard === null) {
          throw notFound(
            'This service has no dashboard, so nobody can agree to a key here. Create a key on the command line and enter it in the plugin.',
          );
        }
        // The address of the dashboard is not told to those who cannot reach it.
        if (allowed !== null && !isOn(allowed, clientAddress(request))) {
          throw new RequestError('permission_error', UNREACHABLE);
        }
        return reply.redirect(`${dashboard.url}/dashboard/connect/${side}?${queryOf(request)}`);
      });
  };
}
