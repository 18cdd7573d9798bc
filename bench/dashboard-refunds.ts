import type { Client } from 'pg';

const REFUNDS = 50_000;

/** Refunds some of the payments of a filled project: 50,000 of a million. */
export async function fillRefunds(client: Client, projectId: string, payments: number): Promise<void> {
  await client.query(
    `create temporary table spread as select p.*, md5(n::text) || md5(n::text) as hash,
       case when n % 20 = 0 then 'failed' when n % 20 = 1 then 'pending' else 'completed' end as state,
       case when n % 40 <> 1 then 'tb1q' || md5(n::text) end as refund_to,
       (left(p.id::text, 15) || substr(md5(n::text), 1, 3) || '-8' || substr(md5(n::text), 4, 3) || '-'
         || substr(md5(n::text), 8, 12))::uuid as refund_id
     from (
       select row_number() over (order by id) as n, id, project_id, mode, surface, asset, network, created_at
       from (select *, row_number() over () as place from payments where project_id = $1 and asset is not null) all_of_them
       where place % $2 = 0
     ) p`,
    [projectId, payments / REFUNDS],
  );
  await client.query(`
    insert into refunds (id, project_id, mode, payment_id, payment_surface, status, amount_minor, currency, asset, network,
      decimals, units, address, watched_address, transaction_hash, created_at, completed_at)
    select refund_id, project_id, mode, id, surface, state, 500, 'USD', asset, network, 8, 10000, refund_to, refund_to,
      case when state = 'completed' then hash end, created_at, case when state = 'completed' then created_at end
    from spread`);
  await client.query(`
    insert into refund_payouts (network, transaction_hash, asset, output_index, refund_id, block_height)
    select network, hash, asset, 0, refund_id, 100 from spread where state = 'completed' or n % 100 = 61`);
  await client.query(`
    insert into waiting_payouts (network, transaction_hash, asset, output_index, refund_id, since, was_mined)
    select network, hash, asset, 0, refund_id, now(), n % 200 = 41 from spread where n % 100 = 41`);
  await client.query('vacuum analyze refunds, refund_payouts, waiting_payouts');
}

/** The reads of refunds: every filter, alone and combined, and a value that no refund has. */
export function refundQueries(n: () => number): Readonly<Record<string, { limit: number; of: () => string }>> {
  const anywhere = (): string => `created_before=${new Date(Date.now() - n() * 15_500).toISOString()}`;
  const stages = ['waiting_for_address', 'to_sign', 'seen', 'reorged', 'completed', 'failed'];
  const searches = ['re_01jd0000000000000000000000', 'A-order40', 'nobody@example.com', 'ab'.repeat(32)];
  const queries = [
    'refunds',
    ...stages.map((stage) => `refunds?stage=${stage}`),
    'refunds?asset=BTC',
    'refunds?asset=USDC',
    'refunds?network=ethereum',
    'refunds?network=base',
    'refunds?stage=completed&network=base',
    'refunds?stage=failed&asset=USDT',
    'refunds?stage=to_sign&network=litecoin',
    'refunds?stage=seen&asset=ETH',
    ...searches.map((text) => `refunds?search=${text}`),
  ];
  return Object.fromEntries(
    queries.map((query) => {
      const isSearch = query.includes('search');
      const of = (): string => (isSearch ? query : `${query}${query.includes('?') ? '&' : '?'}${anywhere()}`);
      return [query, { limit: 50, of }];
    }),
  );
}
