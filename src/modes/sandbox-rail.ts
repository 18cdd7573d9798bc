import { allTokens, tokenOf, type Token } from '../domain/asset.ts';
import { cheapFirst } from '../domain/coin-choice.ts';
import { NETWORK_FACTS, requiredConfirmations, type Network } from '../domain/networks.ts';
import { REFUND_LIFETIME_MS, SANDBOX_REFUND_MS } from '../domain/refund.ts';
import { isCounting } from '../domain/status.ts';
import { sandboxAddress, sandboxTransactionHash } from '../rails/sandbox/sandbox.ts';
import type { RateSource } from '../rates/source.ts';
import type { DueView, SandboxRail } from './rail.ts';

/** A refund with this reason fails, so that merchants can test failures. */
const FAILING_REASON = 'test_failure';

/** Whether the sandbox offers the network. */
function isTestable(network: Network): boolean {
  const facts = NETWORK_FACTS[network];
  return facts.family !== 'evm' || facts.testChainId !== null;
}

/** The rail of test mode: makes the same observations from the clock that a chain makes from blocks. */
export function sandboxRail(rates: RateSource, completeAfterMs: number): SandboxRail {
  const tokens = allTokens().filter(({ network }) => isTestable(network));
  return {
    kind: 'sandbox',
    rates,
    seenTokens: tokens,
    ratesFor: () => rates,
    lock: null,
    ...offerOf(tokens),
    issue: (payment, token) => ({
      kind: 'issued',
      // The address is the same for each token of the network, however often one is chosen.
      address: sandboxAddress(token.network, `${payment.id} ${token.network}`),
      wallet: null,
    }),
    held: () => null,
    // A payment with a lifetime no longer than the completion time expires instead, so that merchants can test expiry.
    completesAt: (createdAt, expiresAt) =>
      createdAt + completeAfterMs < expiresAt ? createdAt + completeAfterMs : null,
    dueViews: (payments, now) =>
      new Map(
        payments.map(({ id, status, completesAt }): readonly [string, DueView] => {
          if (completesAt === null || completesAt > now) return [id, { kind: 'seen_up_to', at: now }];
          return [id, { kind: isCounting(status) ? 'next_stage' : 'settled' }];
        }),
      ),
    // There are no blocks: the count stays at the first one until the payment completes.
    confirmations: ({ status, quote, amountUsdCents }) =>
      status === 'confirming' && quote !== null
        ? { have: 1, need: requiredConfirmations(quote.network, amountUsdCents) }
        : null,
    evmChain: ({ network }) => {
      const facts = NETWORK_FACTS[network];
      return facts.family === 'evm' && facts.testChainId !== null
        ? { chainId: facts.testChainId, contract: null }
        : null;
    },
    simulate: ({ id, quote }, { asset, amountUnits, earlier, firstSeenAt, state }) => {
      if (quote === null) throw new Error('A simulated payment needs a chosen token.');
      const { network, address } = quote;
      const inBlock = state !== 'seen';
      return {
        network,
        transactionHash: sandboxTransactionHash(network, `${id} ${earlier}`),
        index: 0,
        address,
        asset: asset ?? quote.asset,
        amountUnits,
        firstSeenAt,
        blockAt: inBlock ? firstSeenAt : null,
        blockHeight: inBlock ? 0 : null,
        blockPosition: null,
        state,
      };
    },
    payoutChain: () => 'any',
    refundOutcome: ({ id, network, reason, address }) => {
      if (reason === FAILING_REASON) {
        return { afterMs: SANDBOX_REFUND_MS, observation: { kind: 'failed', reason: 'test_failure' } };
      }
      // The shop tries its customer's page, so the refund waits for the address as a live one does.
      if (address === null) return { afterMs: REFUND_LIFETIME_MS, observation: { kind: 'failed', reason: 'unpaid' } };
      const transactionHash = sandboxTransactionHash(network, id);
      return { afterMs: SANDBOX_REFUND_MS, observation: { kind: 'paid', transactionHash } };
    },
  };
}

/** Test mode offers every token, whatever the project has chosen for live mode. */
function offerOf(tokens: readonly Token[]): Pick<SandboxRail, 'tokens' | 'payable' | 'listed' | 'decimals'> {
  return {
    tokens: () => tokens,
    payable: () => tokens,
    listed: () => cheapFirst(tokens),
    decimals: ({ asset, network }) => tokenOf(asset, network)?.decimals ?? null,
  };
}
