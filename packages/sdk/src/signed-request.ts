import type {
  KnownEvent,
  LostPaymentEvent,
  OrderEvent,
  PaymentRequestEvent,
  RefundEvent,
  WrongAssetEvent,
} from './api.generated.ts';
import type { EventType } from './event.ts';
import { writeJson } from './json.ts';
import { joined, secretsOf, signingKeys } from './signing.ts';

type DataOf<Type extends EventType, Known = KnownEvent> = Known extends { type: infer Types; data: infer Data }
  ? Type extends Types
    ? Data
    : never
  : never;
/** Amounts may be given as texts, and the texts beside amounts follow from them. */
type Given<Data> = {
  [Name in keyof Data as Name extends `${string}_text` ? never : Name]?: number extends Data[Name]
    ? Data[Name] | string
    : Data[Name];
};
/** Every field that the service sends. */
type Sample<Data> = { readonly [Name in keyof Data as Name extends `${string}_text` ? never : Name]: unknown };

/** A webhook request to make. */
export interface SignedRequest<Type extends EventType> {
  readonly type: Type;
  /** The secret that your handler verifies with; several sign as during a rotation, the newest first. */
  readonly secret: string | undefined | readonly string[];
  /** Fields that differ from the sample. */
  readonly data?: Given<DataOf<Type>>;
  /** The address of your handler. */
  readonly url?: string;
  readonly id?: string;
  /** When the request is sent, for tests of old ones. */
  readonly sentAt?: Date;
}

const ID = '01kadfw4t3f7vb8y2z6m5n9qrs';
const ADDRESS = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const HASH = 'f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16';

const PAYMENT: Omit<Sample<OrderEvent['data']>, 'transaction_number' | 'payment_request' | 'test'> = {
  object: 'order',
  id: `ord_${ID}`,
  status: 'completed',
  amount: '25.00',
  currency: 'USD',
  crypto_currency: 'BTC',
  crypto_amount: '0.00041667',
  network: 'bitcoin',
  transaction_hash: HASH,
  customer_email: null,
  exception: 'none',
  failure_reason: null,
  metadata: { order_id: 'A-1' },
};
const WRONG: Omit<Sample<WrongAssetEvent['data']>, 'transaction_number' | 'payment_request' | 'test'> = {
  ...PAYMENT,
  received: { crypto_currency: 'LTC', network: 'litecoin', amount: '0.25', address: ADDRESS, transaction_hash: HASH },
};
const REFUND: Omit<Sample<RefundEvent['data']>, 'test'> = {
  id: `re_${ID}`,
  object: 'refund',
  status: 'completed',
  payment: `ord_${ID}`,
  amount: '10.00',
  currency: 'USD',
  crypto_currency: 'BTC',
  network: 'bitcoin',
  crypto_amount: '0.00016666',
  address: ADDRESS,
  claim_url: null,
  transaction_hash: HASH,
  reason: null,
  failure_reason: null,
  created_at: '2026-01-31T12:00:00.000Z',
  completed_at: '2026-01-31T12:10:00.000Z',
};
const REQUEST: Omit<Sample<PaymentRequestEvent['data']>, 'test'> = {
  id: `req_${ID}`,
  object: 'payment_request',
  status: 'paid',
  title: 'Deposit',
  description: null,
  reference: 'A-1',
  amount: '25.00',
  min_amount: null,
  max_amount: null,
  currency: 'USD',
  amount_paid: '25.00',
  amount_pending: '0.00',
  amount_refunded: '0.00',
  amount_left: '0.00',
  payments: 1,
  max_payments: 1,
  coins: null,
  success_url: null,
  ask: { email: false, name: false, note: false },
  metadata: {},
  url: `https://pay.example/request/req_${ID}`,
  created_at: '2026-01-31T12:00:00.000Z',
  expires_at: null,
  ended_at: '2026-01-31T12:10:00.000Z',
};
const LOST: Omit<Sample<LostPaymentEvent['data']>, 'test'> = {
  address: ADDRESS,
  index: 7,
  amount: '0.00041667',
  asset: 'BTC',
  network: 'bitcoin',
  transaction_hash: HASH,
};

type Kind<Type> = Type extends `${infer Prefix extends 'order' | 'invoice' | 'payment_request' | 'refund'}.${string}`
  ? Prefix
  : Type;

/** A sample for each kind of event: one that is missing does not compile. */
const SAMPLES: Readonly<Record<Kind<EventType>, object>> = {
  order: PAYMENT,
  invoice: { ...PAYMENT, object: 'invoice', id: `inv_${ID}` },
  payment_request: REQUEST,
  refund: REFUND,
  'payment.wrong_asset': WRONG,
  'payment.lost': LOST,
};

type PaymentStep = EventType extends infer Type ? (Type extends `order.${infer Step}` ? Step : never) : never;
/** Fields in which the sample of a step differs from a completed payment. */
const STEPS: { readonly [Step in PaymentStep]: object } = {
  created: { status: 'pending', transaction_hash: null },
  confirming: { status: 'confirming', transaction_hash: null },
  completed: {},
  expired: { status: 'expired', transaction_hash: null },
  failed: { status: 'failed', transaction_hash: null, failure_reason: 'unconfirmed' },
  cancelled: { status: 'cancelled', transaction_hash: null },
  exception: { exception: 'overpaid' },
};
/** Fields in which the sample of a request's event differs from a paid request. */
const REQUEST_STEPS: Readonly<Record<string, object>> = {
  part: { status: 'open', amount_paid: '10.00', amount_left: '15.00', payments: 0, ended_at: null },
  closed: { status: 'closed', amount_paid: '0.00', amount_left: '25.00', payments: 0 },
};
/** Fields in which the sample of a refund's event differs from a completed refund. */
const REFUND_STEPS: Readonly<Record<string, object>> = {
  created: { status: 'pending', transaction_hash: null, completed_at: null },
  failed: { status: 'failed', transaction_hash: null, failure_reason: 'cancelled' },
  reorged: { status: 'pending', transaction_hash: null, completed_at: null },
};

function sampleOf(type: EventType): object {
  const [prefix = '', step = ''] = type.split('.');
  const kind = (prefix === 'payment' ? type : prefix) as Kind<EventType>;
  const differences: Readonly<Record<string, object>> =
    kind === 'refund' ? REFUND_STEPS : kind === 'payment_request' ? REQUEST_STEPS : STEPS;
  return { ...SAMPLES[kind], ...differences[step] };
}

/**
 * Makes a webhook request as the service sends it, signed in both ways.
 *
 * @example
 * const request = await signedRequest({ type: 'order.completed', secret, data: { metadata: { order_id: 'A-1' } } });
 */
export async function signedRequest<Type extends EventType>({
  type,
  secret,
  data,
  url = 'https://shop.example/webhooks',
  id = `evt_${ID}`,
  sentAt = new Date(),
}: SignedRequest<Type>): Promise<Request> {
  const event = { id, type, created_at: sentAt.toISOString(), sequence: 1, data: { ...sampleOf(type), ...data } };
  const body = new TextEncoder().encode(writeJson(event));
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  const keys = await Promise.all(secretsOf(secret).map(signingKeys));
  const signatures = await Promise.all(
    keys.map((key) => crypto.subtle.sign('HMAC', key.standard, joined(`${id}.${timestamp}.`, body))),
  );
  const [newest] = keys;
  const service = newest === undefined ? new ArrayBuffer() : await crypto.subtle.sign('HMAC', newest.service, body);
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-signature': hexOf(service),
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.map((one) => `v1,${btoa(String.fromCharCode(...new Uint8Array(one)))}`).join(' '),
    },
    body,
  });
}

function hexOf(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
