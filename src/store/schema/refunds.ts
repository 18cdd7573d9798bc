import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Fiat } from '../../domain/money.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import type { RefundFailure, RefundStatus } from '../../domain/refund.ts';
import {
  bigint,
  boolean,
  changing,
  defaulted,
  integer,
  integers,
  named,
  nullable,
  smallint,
  text,
  texts,
  timestamp,
  units,
  uuid,
} from './column.ts';
import { recordTable } from './record-table.ts';
import type { WalletKind } from './wallets.ts';

/** Refunds. The address has separate statements, because the customer may enter it later. */
export const REFUNDS = recordTable(
  'refunds',
  {
    refund: {
      id: uuid(),
      project_id: uuid(),
      mode: text<Mode>(),
      payment_id: uuid(),
      payment_surface: named('paymentApi', text<PaymentApi>()),
      status: changing(text<RefundStatus>()),
      amount_minor: bigint(),
      currency: text<Fiat>(),
      asset: text<AssetCode>(),
      network: text<Network>(),
      decimals: smallint(),
      units: units(),
      address: nullable(text()),
      reason: nullable(text()),
      failure_reason: changing(nullable(text<RefundFailure>())),
      transaction_hash: changing(nullable(text())),
      created_at: timestamp(),
      completed_at: changing(nullable(timestamp())),
      due_at: changing(nullable(timestamp())),
    },
    rest: {
      watched_address: nullable(text()),
      disposal_minor: changing(nullable(bigint())),
      disposal_usd_cents: changing(nullable(bigint())),
    },
  },
  {},
);

/** A transfer that pays a refund. */
const PAYOUT = {
  network: text<Network>(),
  transaction_hash: text(),
  asset: text<AssetCode>(),
  output_index: named('index', integer()),
  refund_id: uuid(),
  /** The outputs that it spends, as `txid:vout`; empty if unknown. */
  spends: defaulted(texts()),
  /** Matched by amount and address only, when the refund had already failed or was paid. */
  is_guess: defaulted(boolean()),
};

export const REFUND_PAYOUTS = { ...PAYOUT, block_height: integer() };

export const WAITING_PAYOUTS = {
  ...PAYOUT,
  since: timestamp(),
  dropped_at: nullable(timestamp()),
  was_mined: defaulted(boolean()),
};

/** The balances of refunds' addresses at their last check. */
export const REFUND_BALANCES = recordTable(
  'refund_balances',
  {
    check: {
      refund_id: uuid(),
      balance_units: changing(named('balance', nullable(units()))),
      looked_height: changing(named('height', integer())),
      grown_units: changing(nullable(units())),
      grown_height: changing(nullable(integer())),
      grown_after: changing(nullable(integer())),
      untraced_blocks: defaulted(changing(integers())),
      next_trace_height: changing(nullable(integer())),
      retraces: defaulted(changing(integer())),
    },
  },
  {},
);

/** Addresses of wallets' change chains. A chain is named by its first address. */
export const CHANGE_ADDRESSES = {
  network: text<Network>(),
  address: text(),
  first_change_address: text(),
  change_index: named('index', integer()),
};

/** Wallets whose change is watched. */
export const CHANGE_WATCHES = {
  wallet_id: uuid(),
  kind: text<WalletKind>(),
  source: text(),
  network: text<Network>(),
  first_change_address: nullable(text()),
};

/** Money that blocks paid to change addresses. */
export const CHANGE_OUTPUTS = {
  network: text<Network>(),
  transaction_hash: text(),
  output_index: named('index', integer()),
  address: text(),
  amount_units: units(),
  block_height: integer(),
  block_hash: text(),
};

export const REFUND_CHANGES = { refund_id: uuid(), network: text<Network>(), address: text() };

/** Refunds whose address was not yet compared with the transactions that wait to be mined. */
export const UNCOMPARED_REFUNDS = { refund_id: uuid(), network: text<Network>() };

/** The outputs that refunds are shown with as their inputs. */
export const REFUND_INPUTS = {
  refund_id: uuid(),
  network: text<Network>(),
  transaction_hash: named('txid', text()),
  output_index: named('vout', integer()),
};

/** Signed transactions that were sent for refunds. */
export const SENT_PAYOUTS = {
  refund_id: uuid(),
  network: text<Network>(),
  transaction_hash: text(),
  sent_at: timestamp(),
  refused_reason: nullable(text()),
};
