import type { FastifyReply, FastifyRequest } from 'fastify';
import { USUAL_EXPIRY_MINUTES, type NewPayment } from '../app/payments/draft-payment.ts';
import type { AccessKey, ProjectAccess } from '../app/projects/access.ts';
import type { Payment } from '../domain/payment.ts';
import { keyOf, sendCreated, type Api } from './api.ts';
import { readCommon } from './common-fields.ts';
import { idempotencyOf } from './idempotency-key.ts';
import { invalid } from './errors.ts';

/** The fields that the bodies of both APIs share under the same name. */
interface CreationBody {
  readonly order_id?: string;
  readonly customer_email?: string;
  readonly success_url?: string;
  readonly return_url?: string;
  readonly cancel_url?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Creates the payment of a request. `read` returns the fields that the APIs name differently, `present` makes the
 * answer.
 */
export async function createPayment<Body extends CreationBody>(
  api: Api,
  request: FastifyRequest & { readonly body: Body },
  reply: FastifyReply,
  read: (body: Body) => ReadCreation,
  present: (payment: Payment, key: AccessKey) => string,
): Promise<FastifyReply> {
  const key = keyOf(request);
  const { body } = request;
  const creation = { ...readCreation(key, body, request.id), ...withDefaults(read(body), key.project) };
  const outcome = await api.creator.create(creation, (payment) => present(payment, key), idempotencyOf(request, key));
  return sendCreated(reply, outcome);
}

/** The fields that the APIs name differently; null if the body omits one for which a project may have a default. */
type ReadCreation = Omit<NewPayment, keyof ReturnType<typeof readCreation> | 'lifetimeMs'> & {
  readonly lifetimeMs: number | null;
};

function withDefaults(
  { lifetimeMs, successUrl, ...rest }: ReadCreation,
  { defaultExpiryMinutes, defaultSuccessUrl }: ProjectAccess,
) {
  return {
    ...rest,
    successUrl: successUrl ?? defaultSuccessUrl,
    lifetimeMs: lifetimeMs ?? (defaultExpiryMinutes ?? USUAL_EXPIRY_MINUTES) * 60_000,
  };
}

function readCreation(key: AccessKey, body: CreationBody, requestId: string) {
  checkReturnUrls(key, body);
  return {
    projectId: key.project.id,
    mode: key.mode,
    merchantOrderId: body.order_id ?? null,
    customerEmail: body.customer_email ?? null,
    cancelUrl: body.cancel_url ?? null,
    ...readCommon(body),
    requestId,
  };
}

/**
 * Checks the destinations of the payment page's links. A public key is in every visitor's browser, and anybody who
 * finds it there could create pages with the shop's logo that lead elsewhere: its URLs must be on the project's allowed
 * origins, if it has any.
 *
 * @throws RequestError that names the first field that is not allowed
 */
function checkReturnUrls(
  key: AccessKey,
  body: { readonly success_url?: string; readonly return_url?: string; readonly cancel_url?: string },
): void {
  const { allowOrigins } = key.project;
  if (key.kind !== 'public' || allowOrigins.length === 0) return;
  for (const field of ['success_url', 'return_url', 'cancel_url'] as const) {
    const url = body[field];
    if (url === undefined || allowOrigins.includes(URL.parse(url)?.origin ?? '')) continue;
    throw invalid(
      field,
      `${field} must be on an allowed origin of the project (${allowOrigins.join(', ')}) when a public key is used. Allow its origin with: cointill project set ${key.project.id} --allow-origins …, or create the payment on your server with a secret key.`,
    );
  }
}
