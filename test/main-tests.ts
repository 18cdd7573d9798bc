/**
 * `npm test` must answer within ten minutes on two cores. It runs each test that starts at most a node, but those of
 * `LATER`, and of the tests that start programs or a browser those of `WAYS`: each way that a shop or its customer
 * takes, once. The three jobs of CI and `npm run test:all` run every test.
 */
export const WAYS: readonly string[] = [
  'test/e2e/first-payment.program.test.ts',
  'test/e2e/crash.program.test.ts',
  'test/e2e/live-utxo.program.test.ts',
  'test/e2e/live-evm.tokens.program.test.ts',
  'src/cli/payment.program.test.ts',
  'test/sdk/package.program.test.ts',
  'test/dashboard/new-shop.browser.test.ts',
  'test/e2e/payment-page-no-script.browser.test.ts',
  'test/sdk/page.browser.test.ts',
];

/** Other tests that wait for CI's jobs. docs/design/tests.md says what holds their core in `npm test`. */
export const LATER: readonly string[] = [
  'src/app/chains/follow-pruned.node.test.ts',
  'src/app/chains/follow-refusing.node.test.ts',
  'src/app/chains/follow-utxo.proof.node.test.ts',
  'src/app/chains/newer-database.node.test.ts',
  'src/app/dashboard/add-up-figures.property.db.test.ts',
  'src/app/payments/expiry.property.node.test.ts',
  'src/app/refunds/contract-payouts.node.test.ts',
  'src/app/refunds/refund-change.node.test.ts',
  'src/app/refunds/refund-cover.node.test.ts',
  'src/app/refunds/refund-pruned.node.test.ts',
  'src/app/refunds/refund-psbt.node.test.ts',
  'src/app/refunds/refund-signing.node.test.ts',
  'src/app/refunds/trace-growth.node.test.ts',
  'src/app/sandbox/advance-histories.db.test.ts',
  'src/app/sweeps/contract-ether.node.test.ts',
  'src/app/sweeps/find-outside.node.test.ts',
  'src/backup/restored-copy.node.test.ts',
  'src/backup/restored-twice.node.test.ts',
  'src/rails/rpc/cookie.node.test.ts',
  'src/rails/utxo/chain-identity.node.test.ts',
  'src/rails/utxo/decode.node.test.ts',
  'test/deposits/artifact.node.test.ts',
  'test/deposits/diversion.node.test.ts',
];
