import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { bigint, integer, nullable, text, texts, timestamp, units, uuid } from './column.ts';

/** The token of the chain's own coin. */
export const COIN = '';

export type PricedBy = 'quote' | 'market';
export type SweepPurpose = 'sweep' | 'deploy_factory';
export type SweepSource = 'dashboard' | 'chain';
export type SweepState = 'asked' | 'sent' | 'seen' | 'mined' | 'failed' | 'ended';
export type SweepTransferState = 'open' | 'mined' | 'failed';

export const DEPOSIT_BALANCES = {
  project_id: uuid(),
  network: text<Network>(),
  address: text(),
  token: text(),
  payment_id: uuid(),
  treasury: text(),
  address_index: integer(),
  asset: nullable(text<AssetCode>()),
  units: units(),
  usd_cents: nullable(bigint()),
  priced_by: nullable(text<PricedBy>()),
  block_height: integer(),
  checked_at: timestamp(),
};

export const DEPOSIT_CHECKS = {
  project_id: uuid(),
  network: text<Network>(),
  checked_at: nullable(timestamp()),
  block_height: nullable(integer()),
  gas_price: nullable(units()),
  factories: texts(),
  started_at: timestamp(),
  problem: nullable(text()),
};

export const SWEEPS = {
  id: uuid(),
  project_id: uuid(),
  network: text<Network>(),
  purpose: text<SweepPurpose>(),
  source: text<SweepSource>(),
  state: text<SweepState>(),
  treasury: nullable(text()),
  person_id: nullable(uuid()),
  sender: nullable(text()),
  call_to: nullable(text()),
  call_data: nullable(text()),
  transaction_hash: nullable(text()),
  problem: nullable(text()),
  created_at: timestamp(),
  sent_at: nullable(timestamp()),
  block_height: nullable(integer()),
  block_hash: nullable(text()),
  mined_at: nullable(timestamp()),
  gas_used: nullable(bigint()),
  fee_units: nullable(units()),
  fee_usd_cents: nullable(bigint()),
  final_at: nullable(timestamp()),
  check_at: nullable(timestamp()),
};

export const SWEEP_TRANSFERS = {
  sweep_id: uuid(),
  project_id: uuid(),
  network: text<Network>(),
  deposit_address: text(),
  token: text(),
  payment_id: uuid(),
  address_index: integer(),
  asset: nullable(text<AssetCode>()),
  state: text<SweepTransferState>(),
  units: units(),
  transaction_hash: nullable(text()),
  block_height: nullable(integer()),
  mined_at: nullable(timestamp()),
  usd_cents: nullable(bigint()),
};
