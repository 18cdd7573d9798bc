/** The place of a piece of code: beside a line of a file, or in its place. */
export interface Place {
  readonly file: string;
  readonly how: 'after' | 'before' | 'instead of' | 'new file';
  /** The beginning of the line, with its indentation: the first such line below `under`. Empty for a new file. */
  readonly line: string;
  /** The beginning of a line above it. */
  readonly under?: string | undefined;
}

/** A change that a guide in docs/how-to/ describes, done as the guide says. */
export interface GuidedChange {
  readonly what: string;
  /** Its file in docs/how-to/. */
  readonly guide: string;
  /** The most files that it may touch, documentation apart. */
  readonly maxFiles: number;
  /** The places of the guide's blocks of TypeScript and SQL, in their order; none is left out. */
  readonly blocks: readonly Place[];
  /** Changes that the guide describes in words. */
  readonly besides: readonly (Place & { readonly text: string })[];
  /** Files without which the rest of the change does not compile. */
  readonly forcedByTypes: readonly string[];
  /** A text that docs/openapi.json then contains; null: it need not change. */
  readonly shows: string | null;
}

const after = (file: string, line: string): Place => ({ file, how: 'after', line });
const before = (file: string, line: string): Place => ({ file, how: 'before', line });
const insteadOf = (file: string, line: string): Place => ({ file, how: 'instead of', line });
const newFile = (file: string): Place => ({ file, how: 'new file', line: '' });

const chain: GuidedChange = {
  what: 'an EVM chain',
  guide: 'add-an-evm-chain.md',
  maxFiles: 1,
  blocks: [before('src/domain/networks.ts', '} satisfies Readonly<Record<string, NetworkFacts>>;')],
  besides: [
    {
      ...before('docs/guide/settings.md', '| `BSC_RPC_URL`'),
      text: '| `AVALANCHE_RPC_URL`, `AVALANCHE_CHAIN_ID`, `AVALANCHE_TOKENS` | the same; 43114; USDT and USDC | the same |',
    },
    { ...before('.env.example', '#BSC_RPC_URL='), text: '#AVALANCHE_RPC_URL=http://127.0.0.1:8545' },
    { ...before('.env.example', '#BSC_CHAIN_ID='), text: '#AVALANCHE_CHAIN_ID=43114' },
    {
      ...before('.env.example', '#BSC_TOKENS='),
      text: '#AVALANCHE_TOKENS=USDC=0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E:6',
    },
  ],
  forcedByTypes: [],
  // Without a test network the sandbox leaves it out.
  shows: null,
};

const COMMON_FIELDS = 'src/http/common-fields.ts';
const field: GuidedChange = {
  what: 'a stored field',
  guide: 'add-a-stored-field.md',
  maxFiles: 6,
  blocks: [
    newFile('migrations/NNNN_purchase_order.sql'),
    after('src/domain/payment.ts', 'export interface CommonFields {'),
    after('src/domain/payment.ts', 'export const NO_MERCHANT_FIELDS: MerchantFields = {'),
    after('src/store/schema/payments.ts', '      metadata: emptyAsNull(json<Readonly<Record<string, string>>>()),'),
    after(COMMON_FIELDS, 'export const commonBody = {'),
    after(COMMON_FIELDS, '    metadata: given.metadata ?? {},'),
    before(COMMON_FIELDS, '  } satisfies Readonly<Record<CommonNames, TSchema>>;'),
    insteadOf(COMMON_FIELDS, "import { metadata, text } from './fields.ts';"),
    after('src/wire/payment.ts', '    metadata: metadataView(payment),'),
    after(
      'src/store/payments/payment-rows.db.test.ts',
      'const begun: { readonly [Field in Begun]: fc.Arbitrary<Payment[Field]> } = {',
    ),
  ],
  besides: [],
  forcedByTypes: [
    'src/domain/payment.ts',
    'src/store/schema/payments.ts',
    COMMON_FIELDS,
    'src/wire/payment.ts',
    'src/store/payments/payment-rows.db.test.ts',
  ],
  shows: '"purchase_order"',
};

const status: GuidedChange = {
  what: 'a status',
  guide: 'add-a-payment-status.md',
  maxFiles: 4,
  blocks: [
    after('src/domain/status.ts', "  created: { statusGroup: 'open', order: 'pending' },"),
    after('src/domain/transition.ts', "  created: ['prepared', 'completed', 'expired', 'cancelled'],"),
    insteadOf('src/domain/transition.ts', "  created: ['prepared', 'completed', 'expired', 'cancelled'],"),
    after('src/domain/transition.ts', "  | { readonly kind: 'cancelled';"),
    before('src/domain/transition.ts', "    case 'timer_stopped':"),
    before('src/domain/transition.ts', 'function onCancelled('),
    after('src/http/checkout/present.ts', "    case 'created':"),
    after('src/domain/payment-history.fixture.ts', "  cancelled: [{ kind: 'cancelled' }],"),
  ],
  besides: [
    {
      ...before('ARCHITECTURE.md', '    created --> prepared'),
      text: '    created --> opened',
    },
    {
      ...after('ARCHITECTURE.md', '    created --> cancelled'),
      text: ['prepared', 'completed', 'expired', 'cancelled'].map((to) => `    opened --> ${to}`).join('\n'),
    },
  ],
  forcedByTypes: [
    'src/domain/status.ts',
    'src/domain/transition.ts',
    'src/http/checkout/present.ts',
    'src/domain/payment-history.fixture.ts',
  ],
  shows: '"opened"',
};

const eventType: GuidedChange = {
  what: 'an event type',
  guide: 'add-an-event-type.md',
  maxFiles: 3,
  blocks: [
    before('src/domain/event-type.ts', '] as const;'),
    before('src/domain/event-type.ts', '} as const satisfies EventRows;'),
    after('src/domain/transition.ts', '    if (isFinal(to)) steps.push(to);'),
    {
      ...insteadOf('src/domain/transition.money.test.ts', '    expect(result.steps)'),
      under: "  it('completes on the confirmed money that is there",
    },
  ],
  besides: [],
  forcedByTypes: ['src/domain/event-type.ts'],
  shows: '"order.accepted"',
};

const KIND = 'src/domain/payment-kind.ts';
const kind: GuidedChange = {
  what: 'a kind of payment',
  guide: 'add-a-kind-of-payment.md',
  maxFiles: 11,
  blocks: [
    newFile('migrations/NNNN_donations.sql'),
    insteadOf('src/domain/payment.ts', 'export const PAYMENT_APIS ='),
    after('src/domain/id.ts', "  invoice: 'inv_',"),
    before(KIND, '} as const satisfies Readonly<Record<PaymentApi, PaymentKind>>;'),
    before('src/http/payment-routes.ts', '} as const satisfies Readonly<Record<PaymentApi, PaymentRoutes>>;'),
    newFile('src/http/donations/routes.ts'),
    before('src/service/payment-apis.ts', 'import { invoiceRoutes }'),
    after('src/service/payment-apis.ts', '  invoice: invoiceRoutes,'),
    insteadOf('src/http/refunds/schema.ts', "  return { order_id: field('order'),"),
    after('src/app/refunds/refund-money.ts', "        | 'invoice_id'"),
    after('src/cli/client/trigger.ts', "  invoice: { path: '/v1/invoices', field: null },"),
    before('test/api/routes.ts', '} as const satisfies Readonly<Record<PaymentApi,'),
  ],
  besides: [],
  forcedByTypes: [
    'src/domain/payment.ts',
    'src/domain/id.ts',
    KIND,
    'src/http/payment-routes.ts',
    'src/service/payment-apis.ts',
    'src/http/refunds/schema.ts',
    'src/app/refunds/refund-money.ts',
    'src/cli/client/trigger.ts',
    'test/api/routes.ts',
  ],
  shows: '"donation_id"',
};

const PAYMENT_FILTERS = 'src/domain/payment-filters.ts';
const CONDITIONS = 'src/store/payments/payment-filter.ts';
const READ_FILTERS = 'src/http/dashboard/payment-list/filters.ts';
const filter: GuidedChange = {
  what: 'a filter of the list of payments',
  guide: 'add-a-filter.md',
  maxFiles: 3,
  blocks: [
    before(PAYMENT_FILTERS, '} as const satisfies Readonly<Record<string, PaymentFilter>>;'),
    after(CONDITIONS, 'export interface PaymentSearch {'),
    after(CONDITIONS, 'export const NO_FILTERS: PaymentSearch = {'),
    after(CONDITIONS, '  amounts: (ranges) => amountCondition(ranges),'),
    insteadOf(
      READ_FILTERS,
      '  const { created_after, created_before, label, search, customer_email, ...unread } = others;',
    ),
    after(READ_FILTERS, '    label: textOf(label),'),
  ],
  besides: [],
  forcedByTypes: [PAYMENT_FILTERS, CONDITIONS, READ_FILTERS],
  shows: null,
};

export const GUIDED_CHANGES: readonly GuidedChange[] = [chain, field, status, eventType, filter, kind];

/** The code blocks of a guide, without the indentation of lists. */
export function blocksOf(guide: string): readonly string[] {
  const found = guide.matchAll(/^( *)```(?:ts|sql)\n([\s\S]*?)^ *```$/gm);
  return Array.from(found, ([, indent = '', code = '']) =>
    code
      .split('\n')
      .map((line) => line.slice(indent.length))
      .join('\n')
      .trimEnd(),
  );
}

/** The number of the line that a place names. Throws if there is none, or more than one. */
export function lineOf(lines: readonly string[], { file, line, under }: Place): number {
  const start = under === undefined ? 0 : lines.findIndex((one) => one.startsWith(under));
  const at = lines.findIndex((one, index) => index >= start && one.startsWith(line));
  const isOnlyOne = under !== undefined || !lines.some((one, index) => index > at && one.startsWith(line));
  if (start !== -1 && at !== -1 && isOnlyOne) return at;
  const where = under === undefined ? line : `${under} … ${line}`;
  throw new Error(
    `${file} does not have one line that begins with: ${where}. Correct the place in scripts/guided-changes.ts.`,
  );
}
