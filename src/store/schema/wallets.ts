import type { Network } from '../../domain/networks.ts';
import { integer, named, nullable, text, timestamp, uuid } from './column.ts';
import type { ActorKind } from './people.ts';

/**
 * The source of a wallet's addresses: an extended public key, an output descriptor, or deposit contracts of a treasury.
 */
export type WalletKind = 'xpub' | 'descriptor' | 'treasury';

/** The sources of projects' addresses, each on one network. A key that could spend is never stored. */
export const WALLETS = {
  id: uuid(),
  project_id: uuid(),
  network: text<Network>(),
  kind: text<WalletKind>(),
  source: text(),
  /** The address at index 0: the same for every form of the source. */
  first_address: text(),
  /** The confirmations that the merchant wants; null: the network's default. */
  confirmations: nullable(integer()),
  /** How far from the owed amount still counts as exact, in hundredths of a percent; null: the default. */
  tolerance_basis_points: nullable(integer()),
  created_at: timestamp(),
  replaced_at: nullable(timestamp()),
};

/** Changes of the wallet that a project's payments go to. */
export const WALLET_CHANGES = {
  id: uuid(),
  project_id: uuid(),
  network: text<Network>(),
  changed_at: timestamp(),
  actor_kind: text<ActorKind>(),
  actor_name: text(),
  /** The kind of wallet and both ends of its source; null: there was none. */
  before: nullable(text()),
  after: text(),
};

export const ADDRESS_INDEXES = {
  network: text<Network>(),
  first_address: text(),
  next_index: integer(),
  halted_reason: nullable(text()),
};

export const SKIPPED_INDEXES = {
  network: text<Network>(),
  first_address: text(),
  from_index: integer(),
  to_index: integer(),
  watched_to: integer(),
  skipped_at: timestamp(),
};

export const UNISSUED_ADDRESSES = {
  network: text<Network>(),
  address: text(),
  first_address: text(),
  address_index: named('index', integer()),
};
