import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Transfer } from '../../domain/payment.ts';
import { bigint, bytes, integer, nullable, text, timestamp, units, uuid } from './column.ts';
import { changing, fixed, recordTable } from './record-table.ts';

/** Transfers to payments. */
export const TRANSFERS = recordTable(
  'transfers',
  {
    transfer: {
      network: fixed('network', text<Network>()),
      transaction_hash: fixed('transactionHash', text()),
      output_index: fixed('index', integer()),
      address: changing('address', text()),
      asset: fixed('asset', text<AssetCode>()),
      amount_units: changing('amountUnits', units()),
      state: changing('state', text<Transfer['state']>()),
      first_seen_at: fixed('firstSeenAt', timestamp()),
      block_height: changing('blockHeight', nullable(integer())),
      block_at: changing('blockAt', nullable(timestamp())),
      block_position: changing('blockPosition', nullable(integer())),
    },
    rest: {
      payment_id: changing('paymentId', uuid()),
      block_hash: changing('blockHash', nullable(text())),
    },
  },
  { receipt_minor: nullable(bigint()), receipt_usd_cents: nullable(bigint()) },
);

/** Transfers to addresses that were not handed out here. */
export const LOST_TRANSFERS = recordTable(
  'lost_transfers',
  {
    transfer: {
      network: fixed('network', text<Network>()),
      transaction_hash: fixed('transactionHash', text()),
      asset: fixed('asset', text<AssetCode>()),
      output_index: fixed('outputIndex', integer()),
      address: fixed('address', text()),
      first_address: fixed('firstAddress', text()),
      address_index: fixed('addressIndex', integer()),
      amount_units: fixed('amountUnits', units()),
      found_at: fixed('foundAt', timestamp()),
      block_height: changing('blockHeight', nullable(integer())),
      block_hash: changing('blockHash', nullable(text())),
      block_at: changing('blockAt', nullable(timestamp())),
      block_position: changing('blockPosition', nullable(integer())),
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
};

/**
 * Native coins that left an address in a block, or (`missing`) in it or before; `open`: at least so many. `before`:
 * coins that lay there when it was handed out, below zero.
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
