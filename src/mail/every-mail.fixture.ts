import { ATTENTION_KINDS } from '../domain/attention.ts';
import {
  ACCOUNT_CHANGES,
  type AttentionFact,
  type CoinFact,
  type MailContent,
  type RefundFact,
} from '../domain/mail-content.ts';

const PROJECT = { id: '0190a000-0000-7000-8000-000000000001', name: 'Tea & Co.' };
const ITEMS: readonly AttentionFact[] = ATTENTION_KINDS.map((kind) => ({
  kind,
  name: 'A-1001',
  amount: '0.0125 ETH',
  detail: 'HTTP 503',
}));
const ETHER: CoinFact = { amount: '0.012500000000000001', asset: 'ETH', network: 'ethereum' };
const COINS: readonly CoinFact[] = [ETHER, { amount: '1234.5', asset: 'USDC', network: 'base' }];
const REFUND: RefundFact = {
  id: 're_01jyq0',
  name: 'A-1001',
  currency: 'EUR',
  minor: '2400',
  coin: ETHER,
  address: null,
  failure: null,
  at: Date.UTC(2026, 5, 15, 12),
};
const AT = Date.UTC(2026, 5, 15, 12);

/** A mail of each kind. */
export const EVERY_MAIL: readonly MailContent[] = [
  { kind: 'invitation', by: 'ann@shop.example', role: 'support', project: PROJECT.name, language: 'de' },
  { kind: 'invitation', by: null, role: 'owner', project: null, language: null },
  { kind: 'email', address: 'new@shop.example' },
  ...ACCOUNT_CHANGES.map((change, index) => ({
    kind: 'account' as const,
    address: 'ann@shop.example',
    change,
    by: index % 2 === 0 ? 'ben@shop.example' : null,
    ip: index % 2 === 0 ? '203.0.113.7' : null,
    at: AT,
    detail: 'Work laptop',
  })),
  {
    kind: 'wallet_changed',
    project: PROJECT,
    network: 'bitcoin',
    by: 'ben@shop.example',
    ip: '203.0.113.7',
    at: AT,
    before: null,
    after: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  },
  ...(['failing', 'disabled', 'over'] as const).map((state) => ({
    kind: 'endpoint' as const,
    state,
    project: PROJECT,
    url: 'https://shop.example/webhooks',
    detail: 'HTTP 503',
    at: AT,
  })),
  { kind: 'attention', isDaily: false, projects: [{ project: PROJECT, items: ITEMS.slice(0, 1), more: 0 }] },
  {
    kind: 'attention',
    isDaily: true,
    projects: [
      { project: PROJECT, items: ITEMS, more: 12 },
      { project: { ...PROJECT, name: 'Books' }, items: ITEMS.slice(0, 2), more: 0 },
    ],
  },
  {
    kind: 'weekly',
    from: '2026-06-08',
    to: '2026-06-14',
    projects: [
      {
        project: PROJECT,
        currency: 'EUR',
        minor: ['9007199254740993', '7'],
        created: [1250, 1100],
        completed: [1100, 990],
        conversion: [8_934, null],
        attention: ITEMS.slice(0, 3),
        more: 4,
      },
      {
        project: { ...PROJECT, name: 'Books' },
        currency: 'JPY',
        minor: ['0', '0'],
        created: [0, 0],
        completed: [0, 0],
        conversion: [null, null],
        attention: [],
        more: 0,
      },
    ],
  },
  {
    kind: 'payment',
    project: PROJECT,
    payment: {
      id: 'ord_01jyq0',
      name: 'A-1001',
      currency: 'EUR',
      minor: '2400',
      received: ETHER,
      customer: 'Anna Schmidt, anna@customer.example',
      at: AT,
    },
  },
  {
    kind: 'payment',
    project: PROJECT,
    payment: { id: 'ord_01jyq0', name: 'A-1002', currency: 'JPY', minor: '1', received: null, customer: null, at: AT },
  },
  ...[1, 12].map((payments) => ({
    kind: 'payments_daily' as const,
    project: PROJECT,
    from: payments === 1 ? '2026-06-14' : '2026-06-12',
    to: '2026-06-14',
    completed: { payments, currency: 'EUR' as const, minor: '123400', unvalued: payments - 1, coins: COINS },
  })),
  {
    kind: 'monthly',
    project: PROJECT,
    from: '2026-05-01',
    to: '2026-05-31',
    completed: { payments: 12, currency: 'EUR', minor: '123400', unvalued: 1, coins: COINS },
    refunded: { refunds: 2, minor: '2400', coins: COINS },
  },
  {
    kind: 'monthly',
    project: PROJECT,
    from: '2026-05-01',
    to: '2026-05-31',
    completed: { payments: 0, currency: 'JPY', minor: '0', unvalued: 0, coins: [] },
    refunded: { refunds: 0, minor: null, coins: [] },
  },
  { kind: 'refund', state: 'created', project: PROJECT, refund: REFUND },
  { kind: 'refund', state: 'completed', project: PROJECT, refund: { ...REFUND, address: `0x${'ab'.repeat(20)}` } },
  ...(['cancelled', 'unpaid', 'test_failure'] as const).map((failure) => ({
    kind: 'refund' as const,
    state: 'failed' as const,
    project: PROJECT,
    refund: { ...REFUND, failure },
  })),
];
