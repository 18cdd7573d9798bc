import { createHash } from 'node:crypto';
import { baseOf, signIn } from './dashboard.ts';
import { fillProject } from './fill-project.ts';
import { percentile } from './load.ts';
import { withOneOrder } from './many-payments.ts';
import type { Figure } from './report.ts';

const MANY = Number(process.env['PAYMENTS'] ?? 1_000_000);
const ROUNDS = 10;
const MAX_MS = 150;
const MAX_COUNT_MS = 1_200;

const FIRST = ['Anna', 'Ben', 'Carla', 'David', 'Emma', 'Felix', 'Greta', 'Hugo', 'Ida', 'Jonas', 'Karin', 'Lukas'];
const LAST = ['Schm', 'Köhl', 'Web', 'Fisch', 'Wagn', 'Beck', 'Hoff', 'Schul', 'Kaufm', 'Richt', 'Kle', 'Wolf'];
const MIDDLE = ['id', 'er', 'en', 'an', 'el', 'in', 'ow', 'aus', 'ek', 'ur', 'ig', 'os'];
const END = ['t', 'mann', 'hof', 'berg', 'stein', 'er', 'bach', 'feld', 'mayer', 'ke'];
const DOMAINS = ['example.com', 'example.org', 'mail.example.net', 'post.example.de'];
const GOODS = [
  'Espresso beans 1 kg',
  'Hand grinder, steel',
  'Filter papers (100)',
  'Gift card',
  'Kettle 0.8 l, matt black',
];

const array = (words: readonly string[]): string => `(array[${words.map((word) => `'${word}'`).join(', ')}])`;
const nth = (words: readonly string[], by: string): string => `${array(words)}[1 + ${by} % ${words.length}]`;
const at = (words: readonly string[], by: number): string => words[by % words.length] ?? '';

const FIRST_SQL = nth(FIRST, 'n');
const LAST_SQL = `${nth(LAST, 'n / 12')} || ${nth(MIDDLE, 'n / 144')} || ${nth(END, 'n / 1728')}`;
/** A shop's payments: names, addresses and goods come again and again, order ids and hashes never. */
const SHOP: Readonly<Record<string, string>> = {
  merchant_order_id: "'HC' || upper(left($2, 1)) || '-' || n",
  customer_name: `${FIRST_SQL} || ' ' || ${LAST_SQL}`,
  customer_email: `${FIRST_SQL} || '.' || translate(${LAST_SQL}, 'ö', 'o') || n % 97 || '@' || ${nth(DOMAINS, 'n / 7')}`,
  description: nth(GOODS, 'n / 5'),
  currency: "case when n % 4 = 1 then 'USD' else 'EUR' end",
};

/** Searches of nothing, of much, and of too many words. */
const ODD = ['a', '1', '%', '_', 'an', 'ex', 'anna', 'espresso 100', 'eur', 'x'.repeat(255), 'a b '.repeat(63)];

interface Wanted {
  readonly orderId: string;
  readonly text: string;
}

/** Searches as support people make them, each for one payment. */
function searchesOf(n: number): readonly Wanted[] {
  const orderId = `HCO-${n}`;
  const [first, last] = [
    at(FIRST, n),
    at(LAST, Math.floor(n / 12)) + at(MIDDLE, Math.floor(n / 144)) + at(END, Math.floor(n / 1728)),
  ];
  const mail = `${first}.${last.replace('ö', 'o')}${n % 97}`;
  const minor = 1_000 + ((n * 7_919) % 40_000);
  const [whole, cents] = [Math.floor(minor / 100), String(minor % 100).padStart(2, '0')];
  const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
  const texts = [
    orderId.toLowerCase(),
    `hco ${n}`,
    `${n}`,
    `${first} ${last}`.toLowerCase(),
    `${last} ${first}`.toUpperCase(),
    `${first.slice(0, 3)} ${last.slice(0, 5)} ${whole},${cents}`,
    mail.toLowerCase(),
    `${mail.toUpperCase()}@${at(DOMAINS, Math.floor(n / 7)).slice(0, 4)}`,
    `${last} ${whole}.${cents}`,
    `${whole},${cents} ${mail.slice(0, 6)}`,
    `${last} ${at(GOODS, Math.floor(n / 5)).split(' ')[0]} ${first}`,
    `€${whole},${cents} ${last}`.replace('€', n % 4 === 1 ? '$' : '€'),
    `tb1q${md5(`order${n}`).slice(0, 7).toUpperCase()}`,
    ...(n % 3 > 0 ? [md5(`order${n}`).slice(0, 8).toUpperCase(), `0x${md5(`order${n}`)}`] : []),
  ];
  return texts.map((text) => ({ orderId, text }));
}

/** Finding a payment among 1,000,000 by a part of it. */
export function search(): Promise<readonly Figure[]> {
  const env = { RATE_LIMIT_DASHBOARD: '1000000000', SANDBOX_COMPLETE_AFTER_SECONDS: '86400' };
  return withOneOrder(env, async ({ service, client, projectId }) => {
    console.error(`Making ${MANY} payments …`);
    await fillProject(client, projectId, MANY, SHOP);
    const { cookie } = await signIn(service);
    return measure(baseOf(service, projectId), cookie);
  });
}

async function measure(base: string, cookie: string): Promise<readonly Figure[]> {
  const read = async (path: string): Promise<{ readonly ms: number; readonly text: string }> => {
    const startedAt = performance.now();
    const answer = await fetch(`${base}/${path}`, { headers: { cookie } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}.`);
    return { ms: performance.now() - startedAt, text };
  };
  const list = (text: string) => read(`payments?limit=50&search=${encodeURIComponent(text)}`);
  const wanted = [3, 17, 40].flatMap((part) => searchesOf(Math.floor((MANY / 100) * part) + part)).slice(0, 40);
  const times: number[] = [];
  const missed = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { orderId, text } of wanted) {
      const answer = await list(text);
      if (round > 0) times.push(answer.ms);
      if (!answer.text.includes(`"order_id":"${orderId}"`)) missed.add(text);
    }
  }
  const odd: number[] = [];
  const counts: number[] = [];
  for (const text of ODD) {
    odd.push((await list(text)).ms);
    counts.push((await read(`payments/count?search=${encodeURIComponent(text)}`)).ms);
  }
  const p99 = percentile(times, 0.99);
  return [
    {
      name: `${wanted.length} searches over ${MANY} payments: found on the first page; p99`,
      measured: `${wanted.length - missed.size}${missed.size === 0 ? '' : `, not ${[...missed].join(' | ')}`}; p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
      target: `${wanted.length}; ${MAX_MS} ms`,
      holds: missed.size === 0 && p99 <= MAX_MS,
    },
    atMost('searches of one letter, signs and words of half of all payments, slowest', Math.max(...odd), MAX_MS),
    atMost('the number of what they find, up to 10,000, slowest', Math.max(...counts), MAX_COUNT_MS),
  ];
}

function atMost(name: string, ms: number, limit: number): Figure {
  return { name, measured: `${ms.toFixed(0)} ms`, target: `≤ ${limit} ms`, holds: ms <= limit };
}
