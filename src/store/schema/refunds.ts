import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Fiat } from '../../domain/money.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import type { RefundFailure, RefundStatus } from '../../domain/refund.ts';
import {
  bigint,
  boolean,
  defaulted,
  integer,
  named,
  nullable,
  smallint,
  text,
  texts,
  timestamp,
  units,
  uuid,
} from './column.ts';
import { changing, fixed, recordTable } from './record-table.ts';
import type { WalletKind } from './wallets.ts';

/** Refunds. The address has separate statements, because the customer may enter it later. */
export const REFUNDS = recordTable(
  'refunds',
  {
    refund: {
      id: fixed('id', uuid()),
      project_id: fixed('projectId', uuid()),
      mode: fixed('mode', text<Mode>()),
      payment_id: fixed('paymentId', uuid()),
      payment_surface: fixed('paymentApi', text<PaymentApi>()),
      status: changing('status', text<RefundStatus>()),
      amount_minor: fixed('amountMinor', bigint()),
      currency: fixed('currency', text<Fiat>()),
      asset: fixed('asset', text<AssetCode>()),
      network: fixed('network', text<Network>()),
      decimals: fixed('decimals', smallint()),
      units: fixed('units', units()),
      address: fixed('address', nullable(text())),
      reason: fixed('reason', nullable(text())),
      failure_reason: changing('failureReason', nullable(text<RefundFailure>())),
      transaction_hash: changing('transactionHash', nullable(text())),
      created_at: fixed('createdAt', timestamp()),
      completed_at: changing('completedAt', nullable(timestamp())),
      due_at: changing('dueAt', nullable(timestamp())),
    },
    rest: {
      watched_address: fixed('watchedAddress', nullable(text())),
      disposal_minor: changing('disposalMinor', nullable(bigint())),
      disposal_usd_cents: changing('disposalUsdCents', nullable(bigint())),
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
  /** The outputs that it spends, as `txid:vout`; empty if not known. */
  spends: defaulted(texts()),
  /** Matched by amount and address only, when the refund had already failed. */
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
      refund_id: fixed('refundId', uuid()),
      balance_units: changing('balance', nullable(units())),
      looked_height: changing('height', integer()),
      grown_units: changing('grownUnits', nullable(units())),
      grown_height: changing('grownHeight', nullable(integer())),
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
