import { CointillError } from './errors.ts';
import type { Event } from './event.ts';
import { readJson } from './json.ts';
import { isService, isStandard, secretsOf, signingKeys, type SigningKeys } from './signing.ts';

/** A request as Node.js servers have it: the raw body, and the headers. */
export interface ReceivedRequest {
  /** The body exactly as it came, before any parser. */
  readonly body: string | Uint8Array | ArrayBuffer;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The secret of an endpoint, or all that may be in use during a rotation. At least one must be set. */
export type Secret = string | undefined | readonly (string | undefined)[];

export interface VerifyOptions {
  /** How far the timestamp may be from this machine's clock, in seconds. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  /**
   * Whether `x-service-signature` is enough where the headers of Standard Webhooks are missing. It has no time, so that
   * a saved request can be sent again at any time. Default: false.
   */
  readonly allowUntimed?: boolean | undefined;
}

/** Why a webhook was refused. */
export type WebhookRefusal =
  | 'headers_missing'
  | 'body_parsed'
  | 'body_rewritten'
  | 'cut'
  | 'stale'
  | 'wrong_secret'
  | 'not_an_event';

/** The request is not one that Cointill sent, or not as it was sent. Answer it with 400. */
export class WebhookError extends CointillError<{ readonly reason: WebhookRefusal }> {
  override readonly name = 'WebhookError';
  declare readonly reason: WebhookRefusal;
}

function refused(reason: WebhookRefusal, message: string): WebhookError {
  return new WebhookError(message, { reason });
}

const TOLERANCE_SECONDS = 300;

/**
 * Webhooks. `verifyWebhook` does the same without a client.
 *
 * @example
 * const event = await new Webhooks().verify(request, secret);
 */
export class Webhooks {
  /**
   * Checks that Cointill sent a request, and returns its event. Give all secrets that may be in use during a rotation.
   *
   * @throws WebhookError with the `reason`
   * @example
   * const event = await cointill.webhooks.verify(request, secret);
   * if (event.type === 'order.completed') console.log(event.data.metadata.order_id);
   */
  verify(request: Request | ReceivedRequest, secret: Secret, options?: VerifyOptions): Promise<Event> {
    return verifyWebhook(request, secret, options);
  }
}

/**
 * Checks that Cointill sent a request, and returns its event.
 *
 * The signature of Standard Webhooks, which also proves when the request was sent, decides. Where its headers are
 * missing, `x-service-signature` is taken with `allowUntimed` alone.
 *
 * @throws WebhookError with the `reason`
 * @example
 * const event = await verifyWebhook({ body: rawBody, headers }, [secret, formerSecret]);
 */
export async function verifyWebhook(
  request: Request | ReceivedRequest,
  secret: Secret,
  { toleranceSeconds = TOLERANCE_SECONDS, allowUntimed = false }: VerifyOptions = {},
): Promise<Event> {
  const keys = await Promise.all(secretsOf(secret).map(signingKeys));
  const body = await bytesOf(request);
  const signed = headersOf(request.headers);
  const isTimed = signed.standard !== '' && signed.id !== '' && signed.timestamp !== '';
  if (!isTimed && !(allowUntimed && signed.service !== '')) {
    throw refused(
      'headers_missing',
      'The request lacks webhook-id, webhook-timestamp or webhook-signature. Cointill did not send it, or a proxy removed them.',
    );
  }
  const found = await check(keys, signed, body);
  if (found === 'standard') checkTime(signed.timestamp, toleranceSeconds);
  if (found === null) throw await whyNot(keys, signed, body);
  try {
    return readJson(new TextDecoder().decode(body)) as Event;
  } catch {
    throw refused('not_an_event', 'The body is signed, but it is not an event of Cointill.');
  }
}

interface SignedHeaders {
  readonly service: string;
  readonly id: string;
  readonly timestamp: string;
  readonly standard: string;
  readonly length: string;
}

/** The signature that is right. The one with a time decides wherever it is there. */
async function check(
  keys: readonly SigningKeys[],
  signed: SignedHeaders,
  body: Uint8Array<ArrayBuffer>,
): Promise<'standard' | 'service' | null> {
  const { service, id, timestamp, standard } = signed;
  const isTimed = standard !== '' && id !== '' && timestamp !== '';
  for (const key of keys) {
    const isRight = isTimed
      ? await isStandard(key, standard, `${id}.${timestamp}.`, body)
      : await isService(key, service, body);
    if (isRight) return isTimed ? 'standard' : 'service';
  }
  return null;
}

function checkTime(timestamp: string, toleranceSeconds: number): void {
  const seconds = Math.round(Date.now() / 1_000 - Number(timestamp));
  if (Math.abs(seconds) <= toleranceSeconds) return;
  const how = seconds > 0 ? `${seconds} seconds old` : `${-seconds} seconds in the future`;
  throw refused(
    'stale',
    `The signature is right, but webhook-timestamp is ${how}, and at most ${toleranceSeconds} are allowed. A clock is wrong, or a saved request was sent again.`,
  );
}

/** The reason why no secret fits, as far as it can be seen. */
async function whyNot(
  keys: readonly SigningKeys[],
  signed: SignedHeaders,
  body: Uint8Array<ArrayBuffer>,
): Promise<WebhookError> {
  if (/^\d+$/.test(signed.length) && Number(signed.length) !== body.length) {
    return refused(
      'cut',
      `The body has ${body.length} bytes, but Content-Length is ${signed.length}: it was cut off, or changed after it came.`,
    );
  }
  const text = new TextDecoder().decode(body);
  try {
    JSON.parse(text);
  } catch {
    return refused('cut', `The body is not complete JSON: it was cut off after ${body.length} bytes.`);
  }
  // The bytes that Cointill signs are JSON without spaces outside of texts. The expression takes long on anything else.
  const compact = text.trim().replace(/("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g, '$1');
  if (compact !== text && (await check(keys, signed, new TextEncoder().encode(compact))) !== null) {
    return refused(
      'body_rewritten',
      'The body was parsed and written anew. Give the raw bytes, before any parser of JSON.',
    );
  }
  return refused(
    'wrong_secret',
    'No given secret signed this body: it belongs to another endpoint or mode, or was rotated; or the body was changed.',
  );
}

async function bytesOf(request: Request | ReceivedRequest): Promise<Uint8Array<ArrayBuffer>> {
  if (request instanceof Request) {
    if (!request.bodyUsed) return new Uint8Array(await request.arrayBuffer());
    throw refused(
      'body_parsed',
      'The body was read before. Verify first, or give { body, headers } with the raw text.',
    );
  }
  const { body } = request;
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new Uint8Array(body);
  throw refused(
    'body_parsed',
    "body must be the raw text or bytes, but it is parsed already. In Express, use express.raw({ type: '*/*' }).",
  );
}

function headersOf(headers: ReceivedRequest['headers']): SignedHeaders {
  const read = (name: string): string => {
    if (headers instanceof Headers) return headers.get(name) ?? '';
    const found = headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
    return String(found ?? '');
  };
  return {
    service: read('x-service-signature'),
    id: read('webhook-id'),
    timestamp: read('webhook-timestamp'),
    standard: read('webhook-signature'),
    length: read('content-length'),
  };
}
