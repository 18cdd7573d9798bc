import { expect, it } from 'vitest';
import artifact from '../../contracts/artifact.json' with { type: 'json' };
import firstArtifact from '../../contracts/v1/artifact.json' with { type: 'json' };
import testArtifact from '../../contracts/test/artifact.json' with { type: 'json' };
import { compileArtifact, compileTestContracts } from '../../scripts/compile-contracts.ts';
import { DEPOSIT_FACTORY } from '../../src/rails/evm/deposit.ts';
import { startDepositChain } from './chain.ts';

it('the committed bytecode is what the pinned compiler makes of the committed sources', () => {
  expect(artifact).toEqual(compileArtifact());
  expect(firstArtifact).toEqual(compileArtifact('v1/'));
  expect(testArtifact).toEqual(compileTestContracts());
});

it('the factory and its implementation come to lie where they are expected, on a chain of any id', async () => {
  for (const chainId of [1, 56]) {
    const chain = await startDepositChain({ chainId });
    expect((await chain.code(DEPOSIT_FACTORY.address)).length).toBeGreaterThan(1_000);
    expect(await chain.factory.read('implementation')).toBe(DEPOSIT_FACTORY.implementation);
    await chain.anvil.stop();
  }
});
