import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Transfer } from '../../domain/payment.ts';
import type { MempoolDoubt } from '../../domain/till.ts';
import {
  bigint,
  bytes,
  changing,
  defaulted,
  integer,
  named,
  nullable,
  text,
  timestamp,
  units,
  uuid,
} from './column.ts';
import { recordTable } from './record-table.ts';

/** Transfers to payments. */
export const TRANSFERS = recordTable(
  'transfers',
  {
    transfer: {
      network: text<Network>(),
      transaction_hash: text(),
      output_index: named('index', integer()),
      address: changing(text()),
      asset: text<AssetCode>(),
      amount_units: changing(units()),
      state: changing(text<Transfer['state']>()),
      first_seen_at: timestamp(),
      block_height: changing(nullable(integer())),
      block_at: changing(nullable(timestamp())),
      block_position: changing(nullable(integer())),
    },
    rest: {
      payment_id: changing(uuid()),
      block_hash: changing(nullable(text())),
    },
  },
  {
    receipt_minor: nullable(bigint()),
    receipt_usd_cents: nullable(bigint()),
    doubt: nullable(text<MempoolDoubt>()),
  },
);

/** Transfers to addresses that were not handed out here. */
export const LOST_TRANSFERS = recordTable(
  'lost_transfers',
  {
    transfer: {
      network: text<Network>(),
      transaction_hash: text(),
      asset: text<AssetCode>(),
      output_index: integer(),
      /** The address in the form in which the chain's transfers carry it. */
      address: text(),
      first_address: text(),
      /** The index of the address in its wallet. */
      address_index: integer(),
      amount_units: units(),
      found_at: timestamp(),
      block_height: changing(nullable(integer())),
      block_hash: changing(nullable(text())),
      block_at: changing(nullable(timestamp())),
      block_position: changing(nullable(integer())),
    },
  },
  { payment_id: nullable(uuid()) },
);

export const CHAIN_CURSORS = {
  network: text<Network>(),
  height: integer(),
  hash: text(),
  block_at: timestamp(),
  updated_at: timestamp(),
  looked_at: nullable(timestamp()),
  at_head_at: nullable(timestamp()),
  problem: nullable(text()),
  poll_wanted: defaulted(integer()),
  poll_done: defaulted(integer()),
};

/**
 * Native coins that left an address in a block, or (`missing`) in it or before; `open`: at least this many. `before`:
 * coins that lay there when it was handed out, negative.
 */
export const COIN_OUTFLOWS = {
  network: text<Network>(),
  address: text(),
  block_height: integer(),
  units: units(),
  state: text<'taken' | 'missing' | 'open' | 'before'>(),
};

export const CHAIN_BLOCKS = { network: text<Network>(), height: integer(), hash: text(), block_at: timestamp() };

export const CHAIN_NODES = {
  network: text<Network>(),
  node: text(),
  height: nullable(integer()),
  problem: nullable(text()),
  checked_at: timestamp(),
};

export const RAW_TRANSACTIONS = { network: text<Network>(), transaction_hash: text(), bytes: bytes() };
