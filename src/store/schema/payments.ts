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
  changing,
  day,
  defaulted,
  emptyAsNull,
  integer,
  json,
  named,
  nullable,
  smallint,
  text,
  timestamp,
  units,
  usually,
  uuid,
} from './column.ts';
import { recordTable } from './record-table.ts';

/** Payments: the quote, the sums of all its money and of the money in time, and the other fields. */
export const PAYMENTS = recordTable(
  'payments',
  {
    payment: {
      id: uuid(),
      project_id: uuid(),
      mode: text<Mode>(),
      surface: named('api', text<PaymentApi>()),
      status: changing(text<PaymentStatus>()),
      exception: changing(usually(text<Exception>(), 'none')),
      failure_reason: changing(nullable(text<FailureReason>())),
      transaction_number: nullable(text()),
      amount_minor: bigint(),
      currency: text<Fiat>(),
      amount_usd_cents: bigint(),
      merchant_order_id: nullable(text()),
      description: nullable(text()),
      customer_email: nullable(text()),
      customer_name: nullable(text()),
      success_url: nullable(text()),
      cancel_url: nullable(text()),
      coins: nullable(json<readonly string[]>()),
      payment_request_id: nullable(uuid()),
      shop_metadata: nullable(text()),
      shop_checkout: nullable(text()),
      metadata: emptyAsNull(json<Readonly<Record<string, string>>>()),
      transaction_hash: changing(nullable(text())),
      completed_on_units: changing(nullable(units())),
      created_at: timestamp(),
      expires_at: timestamp(),
      grace_until: changing(nullable(timestamp())),
      completed_at: changing(nullable(timestamp())),
      cancelled_at: changing(nullable(timestamp())),
      ended_by_hand: changing(nullable(boolean())),
      completes_at: changing(nullable(timestamp())),
      confirming_sent: changing(usually(boolean(), false)),
      last_sequence: changing(integer()),
    },
    quote: {
      asset: changing(nullable(text<AssetCode>())),
      network: changing(nullable(text<Network>())),
      decimals: changing(nullable(smallint())),
      owed_units: changing(nullable(units())),
      tolerance_units: changing(nullable(units())),
      address: changing(nullable(text())),
    },
    // Zero is by far the most frequent sum.
    all: {
      seen_units: changing(usually(units(), 0n)),
      mined_units: changing(usually(units(), 0n)),
      confirmed_units: changing(usually(units(), 0n)),
    },
    inTime: {
      seen_in_time_units: changing(named('seenUnits', usually(units(), 0n))),
      mined_in_time_units: changing(named('minedUnits', usually(units(), 0n))),
      confirmed_in_time_units: changing(named('confirmedUnits', usually(units(), 0n))),
    },
    rest: {
      deciding_hash: changing(nullable(text())),
      due_at: changing(nullable(timestamp())),
    },
  },
  {},
);

/** Transitions of payments' statuses. */
export const PAYMENT_TRANSITIONS = recordTable(
  'payment_arrows',
  {
    transition: {
      from_status: named('from', text<PaymentStatus>()),
      to_status: named('to', text<PaymentStatus>()),
      cause: text(),
      at: timestamp(),
    },
    payment: { payment_id: named('id', uuid()) },
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
      /** The address in the form in which the chain's transfers carry it. */
      address: named('watchedAddress', text()),
      payment_id: uuid(),
      wallet_id: nullable(uuid()),
      address_index: named('index', nullable(integer())),
      issued_at: timestamp(),
      watch_until: timestamp(),
      /** How many confirmations a transfer to it needs. */
      confirmations: integer(),
      /** The hash of the block after which the payment's money comes; null if unknown. */
      after_block: nullable(text()),
    },
    quote: {
      network: text<Network>(),
      asset: text<AssetCode>(),
      decimals: smallint(),
      owed_units: units(),
      tolerance_units: units(),
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
      project_id: uuid(),
      mode: text<Mode>(),
      surface: named('api', text<PaymentApi>()),
      day: day(),
      status: text<PaymentStatus>(),
      shard: smallint<CountShard>(),
      payments: bigint(),
      usd_cents: bigint(),
    },
  },
  {},
);

/** Answers by the idempotency keys of their requests. */
export const IDEMPOTENCY_KEYS = recordTable(
  'idempotency_keys',
  {
    answer: {
      project_id: uuid(),
      mode: text<Mode>(),
      route: text(),
      key: text(),
      body_hash: bytes(),
      response: text(),
      created_at: timestamp(),
    },
  },
  {},
);

/** Test payments whose time was moved ahead of the clock. */
export const ADVANCED_PAYMENTS = {
  payment_id: uuid(),
  /** Up to when, by the last call and by any; null until a call has ended. */
  advanced_to: nullable(timestamp()),
  farthest: nullable(timestamp()),
  /** The end of the lease of the call that moves it now. */
  held_until: nullable(timestamp()),
};
