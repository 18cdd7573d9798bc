import { describe, expect, it } from 'vitest';
import { importFault, webImportFault } from '../scripts/rooms.ts';

describe('the walls between the rooms of src', () => {
  it.each([
    ['src/domain/money.ts', '../store/payments/payments.ts'],
    ['src/domain/money.ts', 'node:fs'],
    ['src/domain/money.ts', 'pg'],
    ['src/store/payments/payments.ts', '../../rails/chain.ts'],
    ['src/rails/evm/source.ts', '../../store/chains/chain.ts'],
    ['src/rails/evm/source.ts', '../utxo/params.ts'],
    ['src/store/payments/payments.ts', '../../embedded/postgres.ts'],
    ['src/app/context.ts', '../embedded/postgres.ts'],
    ['src/app/payments/create-payment.ts', '../chains/follow-chain.ts'],
    ['src/app/chains/follow-chain.ts', '../../rails/evm/source.ts'],
    ['src/app/context.ts', './payments/create-payment.ts'],
    ['src/http/orders/routes.ts', '../../rails/address.ts'],
    ['src/http/orders/routes.ts', '../../service/main.ts'],
    ['src/config/config.ts', '../service/core.ts'],
  ])('%s may not import %s', (file, target) => {
    expect(importFault(file, target)).toMatch(/^imports /);
  });

  it.each([
    ['src/domain/money.ts', './asset.ts'],
    ['src/store/payments/payments.ts', '../../domain/payment.ts'],
    ['src/app/chains/follow-chain.ts', '../refunds/end-refunds.ts'],
    ['src/http/orders/routes.ts', '../api.ts'],
    ['src/store/client.ts', 'pg'],
    ['src/service/main.ts', '../http/docs/routes.ts'],
  ])('%s may import %s', (file, target) => {
    expect(importFault(file, target)).toBeNull();
  });

  it('a folder that is no room yet is refused, whatever it imports', () => {
    expect(importFault('src/dashboard/start.ts', './page.ts')).toMatch(/scripts\/rooms\.ts/);
    expect(importFault('src/app/payments/create-payment.ts', '../../dashboard/start.ts')).toMatch(/may import/);
  });
});

describe('the wall between web and the server', () => {
  const page = 'web/dashboard/pages/keys/keys-page.tsx';
  const contract = '../../../../src/http/dashboard/keys/contract.ts';

  it('a page may import types of contracts, and the domain', () => {
    expect(webImportFault(page, contract, true)).toBeNull();
    expect(webImportFault(page, '../../../../src/http/dashboard/contract.ts', true)).toBeNull();
    expect(webImportFault(page, '../../../../src/domain/text.ts', false)).toBeNull();
  });

  it('a page may import no value of a contract, and nothing else of the server', () => {
    expect(webImportFault(page, contract, false)).toMatch(/^imports /);
    expect(webImportFault(page, '../../../../src/http/dashboard/keys/routes.ts', true)).toMatch(/^imports /);
    expect(webImportFault(page, '../../../../src/store/projects/api-keys.ts', true)).toMatch(/^imports /);
  });
});
