import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { bigint, changing, integer, named, nullable, text, texts, timestamp, units, uuid } from './column.ts';
import { recordTable } from './record-table.ts';

/** The value of a token column for the chain's own coin. */
export const COIN = '';

export type PricedBy = 'quote' | 'market';
export type SweepPurpose = 'sweep' | 'deploy_factory';
export type SweepSource = 'dashboard' | 'chain';
export type SweepState = 'asked' | 'sent' | 'seen' | 'mined' | 'failed' | 'ended';
export type SweepTransferState = 'open' | 'mined' | 'failed';
/** `declined`: by the person; `silent`: the wallet never answered; `lost`: no node has the transaction any more. */
export type SweepProblem = 'declined' | 'silent' | 'lost' | 'reverted' | 'paid_nothing';

/** The balances of tokens on deposits at the last check. */
export const DEPOSIT_BALANCES = recordTable(
  'deposit_balances',
  {
    balance: {
      project_id: uuid(),
      network: text<Network>(),
      /** The address in the form in which the chain's transfers carry it. */
      address: text(),
      /** The token's contract in lower case, or {@link COIN}. */
      token: text(),
      payment_id: uuid(),
      treasury: text(),
      address_index: named('index', integer()),
      asset: nullable(text<AssetCode>()),
      units: units(),
      usd_cents: nullable(bigint()),
      priced_by: nullable(text<PricedBy>()),
      block_height: named('height', integer()),
      checked_at: timestamp(),
    },
  },
  {},
);

/** The last check of a project's deposits on a network. */
export const DEPOSIT_CHECKS = {
  project_id: uuid(),
  network: text<Network>(),
  /** The time of the last successful check, with its block and gas price in wei; null if there was none. */
  checked_at: nullable(timestamp()),
  block_height: named('height', nullable(integer())),
  gas_price: nullable(units()),
  factories: texts(),
  started_at: timestamp(),
  /** Why the last check failed. */
  problem: nullable(text()),
};

/** Transactions that pay deposits out, or deploy their factory. */
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
  /** Why it failed or ended, as a word; the page has the sentence. */
  problem: nullable(text<SweepProblem>()),
  created_at: timestamp(),
  /** When its wallet sent it or, while it waits to be mined, when a node last had it. */
  sent_at: nullable(timestamp()),
  block_height: named('height', nullable(integer())),
  block_hash: nullable(text()),
  mined_at: nullable(timestamp()),
  gas_used: nullable(bigint()),
  fee_units: nullable(units()),
  fee_usd_cents: nullable(bigint()),
  final_at: nullable(timestamp()),
  /** When it is checked next; null: never again. */
  check_at: nullable(timestamp()),
};

/** The tokens that a sweep takes from each deposit. */
export const SWEEP_TRANSFERS = recordTable(
  'sweep_transfers',
  {
    transfer: {
      sweep_id: uuid(),
      project_id: uuid(),
      network: text<Network>(),
      deposit_address: named('address', text()),
      /** The token's contract in lower case, or {@link COIN}. */
      token: text(),
      payment_id: uuid(),
      address_index: named('index', integer()),
      asset: nullable(text<AssetCode>()),
      state: changing(text<SweepTransferState>()),
      units: changing(units()),
      transaction_hash: changing(nullable(text())),
      block_height: changing(named('height', nullable(integer()))),
      mined_at: changing(nullable(timestamp())),
      usd_cents: changing(nullable(bigint())),
    },
  },
  {},
);
