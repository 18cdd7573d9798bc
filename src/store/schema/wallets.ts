import type { Network } from '../../domain/networks.ts';
import { integer, nullable, text, timestamp, uuid } from './column.ts';
import type { ActorKind } from './people.ts';

/**
 * The source of a wallet's addresses: an extended public key, an output descriptor, or deposit contracts of a treasury.
 */
export type WalletKind = 'xpub' | 'descriptor' | 'treasury';

export const WALLETS = {
  id: uuid(),
  project_id: uuid(),
  network: text<Network>(),
  kind: text<WalletKind>(),
  source: text(),
  first_address: text(),
  confirmations: nullable(integer()),
  tolerance_basis_points: nullable(integer()),
  created_at: timestamp(),
  replaced_at: nullable(timestamp()),
};

/** Every time payments of a project began to go to another wallet. */
export const WALLET_CHANGES = {
  id: uuid(),
  project_id: uuid(),
  network: text<Network>(),
  changed_at: timestamp(),
  actor_kind: text<ActorKind>(),
  actor_name: text(),
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
  address_index: integer(),
};
