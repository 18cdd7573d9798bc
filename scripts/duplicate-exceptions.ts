/** Files that share lines for a reason. */
export interface Exception {
  /** The one file with repeated lines, or all files that share them. */
  readonly files: readonly string[];
  readonly why: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    files: [
      'src/store/schema/chains.ts',
      'src/store/schema/payments.ts',
      'src/store/schema/refunds.ts',
      'src/store/schema/sweeps.ts',
      'src/store/schema/webhooks.ts',
      'src/store/schema/record-table.test.ts',
    ],
    why: 'A column is a line of its table with its type; tables have columns of the same types in the same order by chance.',
  },
  {
    files: ['src/http/invoices/schema.ts', 'src/http/orders/schema.ts', 'src/http/transactions/schema.ts'],
    why: 'The bodies of APIs that their specifications fix, field by field in the order of the document; each may change alone.',
  },
  {
    files: ['src/http/invoices/routes.ts', 'src/http/orders/routes.ts', 'src/http/transactions/routes.ts'],
    why: 'Each API reads a creation from its own fields into the same request; what they share is read in one place.',
  },
  {
    files: ['src/domain/payment.ts', 'src/domain/payment.test.ts'],
    why: 'The test writes a new payment out by hand: read from the code, a wrong field would expect itself.',
  },
  {
    files: ['src/http/transactions/schema.ts', 'test/api/transactions.db.test.ts'],
    why: 'The example in the document and the answer that a test expects: only because neither is read from the other can they disagree.',
  },
  {
    files: ['web/dashboard/pages/settings/setting-fields.tsx', 'web/dashboard/pages/settings/settings-form.tsx'],
    why: 'A setting is one element with its words and its length, an attribute a line; what it does is shared already.',
  },
  {
    files: ['src/store/figures/attention.db.test.ts', 'test/dashboard/refund-list.fixture.ts'],
    why: 'A refund is written out field by field; one test needs its facts, the other refunds in each stage.',
  },
  {
    files: ['packages/sdk/src/invoices.ts', 'packages/sdk/src/orders.ts', 'packages/sdk/src/refunds.ts'],
    why: 'The methods of resources have the same form; each names its own routes and types, which is all that a method is.',
  },
];
