import type { Client } from 'pg';
import { HDKey } from '@scure/bip32';

/** BIP 32 version bytes of a test chain's public and private keys. */
const TEST_VERSIONS = { private: 0x04358394, public: 0x043587cf };

/** The account's public key of a wallet that everybody knows, in a test chain's form. */
export function testXpub(): string {
  return HDKey.fromMasterSeed(new Uint8Array(32).fill(7), TEST_VERSIONS).derive("m/84'/1'/0'").publicExtendedKey;
}

/** Adds watched addresses to a network, none of which exists on its chain. */
export async function watchAddresses(client: Client, network: string, asset: string, count: number): Promise<void> {
  await client.query(
    `insert into payment_addresses (network, address, payment_id, asset, decimals, owed_units, tolerance_units,
       issued_at, watch_until, confirmations)
     select $1, case when $1 = 'ethereum' then '0x' || substr(md5('a' || n) || md5('b' || n), 1, 40)
         else 'rltc1q' || substr(md5('a' || n) || md5('b' || n), 1, 38) end,
       gen_random_uuid(), $2, 8, 1000000, 5000, now(), now() + interval '7 days', 2
     from generate_series(1, $3::int) n`,
    [network, asset, count],
  );
  await client.query('vacuum analyze payment_addresses');
}
