import type { FastifyInstance } from 'fastify';

/** A body may have thousands of fields; those beyond this are only counted. */
const MAX_NAMED = 10;
/** How many characters of a name are compared and reported. */
const MAX_NAME = 64;
/** How many edits count as a typing error; with more, it is a different name. */
const MAX_TYPOS = 2;

/**
 * Names the fields of a request body that the API does not know in the answer's `X-Ignored-Fields` header, each with
 * the field that was probably meant: `sucess_url; did you mean success_url?, colour`.
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
    const meant = nearestField(known, name);
    return meant === null ? plain(name) : `${plain(name)}; did you mean ${meant}?`;
  });
  const rest = unknown.length - named.length;
  return [...named, ...(rest === 0 ? [] : [`and ${rest} more`])].join(', ');
}

/** A header allows few characters: all others are percent-encoded. */
function plain(name: string): string {
  return name === '' ? '""' : encodeURIComponent(name.slice(0, MAX_NAME).toWellFormed());
}

/**
 * The known field that was probably meant by another name, such as `successUrl` or `sucess_url`; null if none is close.
 */
export function nearestField(known: Iterable<string>, name: string): string | null {
  const given = letters(name);
  let nearest: string | null = null;
  let least = Math.min(MAX_TYPOS, Math.floor(given.length / 3)) + 1;
  for (const field of known) {
    const typos = distance(given, letters(field));
    if (typos < least) [nearest, least] = [field, typos];
  }
  return nearest;
}

/** `successUrl` and `Success-URL` mean `success_url`. */
function letters(name: string): string {
  return name
    .slice(0, MAX_NAME)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
}

/**
 * How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one text into the other.
 */
export function distance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line.push(
        Math.min(
          (last[column] ?? Infinity) + 1,
          (line[column - 1] ?? Infinity) + 1,
          (last[column - 1] ?? Infinity) + (isSame ? 0 : 1),
          isSwapped ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, line];
  }
  return last[to.length] ?? Infinity;
}
