import type { FastifyInstance } from 'fastify';
import { nearestName } from '../domain/nearest-name.ts';

/** A body may have thousands of fields; those beyond this are only counted. */
const MAX_NAMED = 10;
/** How many characters of a name are reported. */
const MAX_NAME = 64;

/**
 * Lists the unknown fields of a request body in the answer's `X-Ignored-Fields` header, each with the field that was
 * probably meant: `sucess_url; did you mean success_url?, colour`.
 */
export function nameIgnoredFields(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { properties } = (route.schema?.body ?? {}) as { readonly properties?: Readonly<Record<string, unknown>> };
    if (properties === undefined || route.config?.guard?.kind !== 'api') return;
    const known = new Set(Object.keys(properties));
    const before = [route.preValidation ?? []].flat();
    route.preValidation = [
      ...before,
      (request, reply, done) => {
        const ignored = ignoredFields(known, request.body);
        if (ignored !== null) void reply.header('x-ignored-fields', ignored);
        done();
      },
    ];
  });
}

/** The header's value; null if every field is known, or if the body is not an object. */
function ignoredFields(known: ReadonlySet<string>, body: unknown): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null;
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  if (unknown.length === 0) return null;
  const named = unknown.slice(0, MAX_NAMED).map((name) => {
    const meant = nearestName(known, name);
    return meant === null ? plain(name) : `${plain(name)}; did you mean ${meant}?`;
  });
  const rest = unknown.length - named.length;
  return [...named, ...(rest === 0 ? [] : [`and ${rest} more`])].join(', ');
}

/** The name for a header, which allows few characters: all others are percent-encoded. */
function plain(name: string): string {
  return name === '' ? '""' : encodeURIComponent(name.slice(0, MAX_NAME).toWellFormed());
}
