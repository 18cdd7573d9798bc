import { ATTENTION_KINDS } from '../domain/attention.ts';
import { ACCOUNT_CHANGES, type AttentionFact, type MailContent } from '../domain/mail-content.ts';

const PROJECT = { id: '0190a000-0000-7000-8000-000000000001', name: 'Tea & Co.' };
const ITEMS: readonly AttentionFact[] = ATTENTION_KINDS.map((kind) => ({
  kind,
  name: 'A-1001',
  amount: '0.0125 ETH',
  detail: 'HTTP 503',
}));
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
];
