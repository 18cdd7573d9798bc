import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Exception, FailureReason, PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import {
  bigint,
  boolean,
  bytes,
  day,
  defaulted,
  emptyAsNull,
  integer,
  json,
  nullable,
  smallint,
  text,
  timestamp,
  units,
  usually,
  uuid,
} from './column.ts';
import { changing, fixed, recordTable } from './record-table.ts';

/** Payments: the quote, the sums of all its money and of the money in time, and the other fields. */
export const PAYMENTS = recordTable(
  'payments',
  {
    payment: {
      id: fixed('id', uuid()),
      project_id: fixed('projectId', uuid()),
      mode: fixed('mode', text<Mode>()),
      surface: fixed('api', text<PaymentApi>()),
      status: changing('status', text<PaymentStatus>()),
      exception: changing('exception', usually(text<Exception>(), 'none')),
      failure_reason: changing('failureReason', nullable(text<FailureReason>())),
      transaction_number: fixed('transactionNumber', nullable(text())),
      amount_minor: fixed('amountMinor', bigint()),
      currency: fixed('currency', text<Fiat>()),
      amount_usd_cents: fixed('amountUsdCents', bigint()),
      merchant_order_id: fixed('merchantOrderId', nullable(text())),
      description: fixed('description', nullable(text())),
      customer_email: fixed('customerEmail', nullable(text())),
      customer_name: fixed('customerName', nullable(text())),
      success_url: fixed('successUrl', nullable(text())),
      cancel_url: fixed('cancelUrl', nullable(text())),
      metadata: fixed('metadata', emptyAsNull(json<Readonly<Record<string, string>>>())),
      transaction_hash: changing('transactionHash', nullable(text())),
      completed_on_units: changing('completedOnUnits', nullable(units())),
      created_at: fixed('createdAt', timestamp()),
      expires_at: fixed('expiresAt', timestamp()),
      grace_until: changing('graceUntil', nullable(timestamp())),
      completed_at: changing('completedAt', nullable(timestamp())),
      cancelled_at: changing('cancelledAt', nullable(timestamp())),
      completes_at: changing('completesAt', nullable(timestamp())),
      confirming_sent: changing('confirmingSent', usually(boolean(), false)),
      last_sequence: changing('lastSequence', integer()),
    },
    quote: {
      asset: changing('asset', nullable(text<AssetCode>())),
      network: changing('network', nullable(text<Network>())),
      decimals: changing('decimals', nullable(smallint())),
      owed_units: changing('owedUnits', nullable(units())),
      tolerance_units: changing('toleranceUnits', nullable(units())),
      address: changing('address', nullable(text())),
    },
    // Zero is by far the most frequent sum.
    all: {
      seen_units: changing('seenUnits', usually(units(), 0n)),
      mined_units: changing('minedUnits', usually(units(), 0n)),
      confirmed_units: changing('confirmedUnits', usually(units(), 0n)),
    },
    inTime: {
      seen_in_time_units: changing('seenUnits', usually(units(), 0n)),
      mined_in_time_units: changing('minedUnits', usually(units(), 0n)),
      confirmed_in_time_units: changing('confirmedUnits', usually(units(), 0n)),
    },
    rest: {
      deciding_hash: changing('decidingHash', nullable(text())),
      due_at: changing('dueAt', nullable(timestamp())),
    },
  },
  {},
);

/** Transitions of payments' statuses. */
export const PAYMENT_TRANSITIONS = recordTable(
  'payment_arrows',
  {
    transition: {
      from_status: fixed('from', text<PaymentStatus>()),
      to_status: fixed('to', text<PaymentStatus>()),
      cause: fixed('cause', text()),
      at: fixed('at', timestamp()),
    },
    payment: { payment_id: fixed('id', uuid()) },
  },
  { id: defaulted(bigint()) },
);

/**
 * Addresses, each with the first quote it was handed out for. An address that is handed out has never been spent from.
 */
export const PAYMENT_ADDRESSES = recordTable(
  'payment_addresses',
  {
    issued: {
      address: fixed('watchedAddress', text()),
      payment_id: fixed('paymentId', uuid()),
      wallet_id: fixed('walletId', nullable(uuid())),
      address_index: fixed('index', nullable(integer())),
      issued_at: fixed('issuedAt', timestamp()),
      watch_until: fixed('watchUntil', timestamp()),
      confirmations: fixed('confirmations', integer()),
      after_block: fixed('afterBlock', nullable(text())),
    },
    quote: {
      network: fixed('network', text<Network>()),
      asset: fixed('asset', text<AssetCode>()),
      decimals: fixed('decimals', smallint()),
      owed_units: fixed('owedUnits', units()),
      tolerance_units: fixed('toleranceUnits', units()),
    },
  },
  // Not used since migration 0041; an earlier version beside this one writes it.
  { spent_units: nullable(units()) },
);

export const PAYMENT_QUOTES = {
  id: defaulted(bigint()),
  payment_id: uuid(),
  network: text<Network>(),
  address: text(),
  asset: text<AssetCode>(),
  decimals: smallint(),
  owed_units: units(),
  tolerance_units: units(),
  quoted_at: timestamp(),
};

export const TRANSACTION_COUNTERS = { project_id: uuid(), mode: text<Mode>(), year: integer(), last: integer() };

/** Rows of the day counters are spread over this many shards; each kind of writer uses its own shard. */
export type CountShard = 0 | 1 | 2;

export const PAYMENT_DAY_COUNTS = recordTable(
  'payment_day_counts',
  {
    count: {
      project_id: fixed('projectId', uuid()),
      mode: fixed('mode', text<Mode>()),
      surface: fixed('api', text<PaymentApi>()),
      day: fixed('day', day()),
      status: fixed('status', text<PaymentStatus>()),
      shard: fixed('shard', smallint<CountShard>()),
      payments: fixed('payments', bigint()),
      usd_cents: fixed('usdCents', bigint()),
    },
  },
  {},
);

/** Answers by the idempotency keys of their requests. */
export const IDEMPOTENCY_KEYS = recordTable(
  'idempotency_keys',
  {
    answer: {
      project_id: fixed('projectId', uuid()),
      mode: fixed('mode', text<Mode>()),
      route: fixed('route', text()),
      key: fixed('key', text()),
      body_hash: fixed('bodyHash', bytes()),
      response: fixed('response', text()),
      created_at: fixed('createdAt', timestamp()),
    },
  },
  {},
);
