import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allTokens, quoteUnits } from '../../domain/asset.ts';
import {
  ASSETS,
  BTC_PAID,
  BTC_QUOTE,
  FRAME,
  HASH,
  money,
  NOW,
  STATES,
  USDT_QUOTE,
  viewOf,
} from './examples.fixture.ts';
import { markupText } from '../pages/html.ts';
import { ENGLISH, LANGUAGES } from './language/locale.ts';
import { tagsOf, textOf, valuesOf } from '../pages/markup.fixture.ts';
import { renderPaymentPage } from './page.ts';
import { qrSvg } from './steps/pay-step.ts';
import { rateOf } from './steps/parts.ts';
import type { Page, PaymentView } from './view.ts';

const render = (view: PaymentView): Page => renderPaymentPage(view, ASSETS);

function pageOf(state: string): string {
  const view = STATES.get(state);
  if (view === undefined) throw new Error(`there is no state ${state}`);
  return render(view).html;
}

/** Links beside those that change the language. */
const linksOf = (markup: string): readonly (string | undefined)[] =>
  tagsOf(markup)
    .filter(({ name, attributes }) => name === 'a' && !attributes.has('hreflang'))
    .map(({ attributes }) => attributes.get('href'));

const PAY = '/pay/01935a3c-0000-7000-8000-000000000001';

describe('choosing', () => {
  it('offers every token as a form that names asset and network', () => {
    const markup = pageOf('choose');
    const chosen = valuesOf(markup, 'input', 'value');
    const forms = valuesOf(markup, 'form', 'action').filter((action) => action === `${PAY}/token`);
    expect(forms).toHaveLength(allTokens().length);
    expect(chosen.slice(0, 4)).toEqual(['BTC', 'bitcoin', 'ETH', 'base']);
    expect(textOf(markup)).toContain('USDT on BNB Smart Chain (BEP-20)');
  });

  it('lets the customer keep the token he had', () => {
    expect(textOf(pageOf('choose another'))).toContain('Keep paying with BTC on Bitcoin');
    expect(textOf(pageOf('choose'))).not.toContain('Keep BTC');
  });

  it('offers networks of low fees first, and names a widely used one that cannot be received', () => {
    const text = textOf(pageOf('choose'));
    expect(text).toContain('Ether ETH Base, Arbitrum One +2');
    expect(text).toMatch(/Tether USD USDT Polygon, Arbitrum One \+\d/);
    expect(text).toMatch(/USDT on Polygon Low fees .* USDT on Ethereum \(ERC-20\) Higher fees/);
    expect(text).toContain('The shop can’t receive USDT on Tron (TRC-20) here.');
    expect(text).not.toContain('BTC on Tron');
  });

  it('says that nothing can be paid where no wallet is set', () => {
    expect(textOf(pageOf('unavailable'))).toContain('No way to pay yet');
  });
});

describe('paying', () => {
  it('shows the exact digits, the network and the address that copies without gaps', () => {
    const markup = pageOf('pay');
    expect(textOf(markup)).toContain('Send exactly 0.00081667 BTC');
    expect(textOf(markup)).toContain('Send only BTC on Bitcoin.');
    expect(textOf(markup)).toContain(BTC_QUOTE.address);
    expect(valuesOf(markup, 'p', 'data-address')).toEqual([BTC_QUOTE.address]);
    expect(markup).toContain('<span>bc1q</span><wbr /><span>ar0s</span>');
  });

  it('opens a wallet with the same address and amount', () => {
    const uri = `bitcoin:${BTC_QUOTE.address}?amount=0.00081667`;
    expect(valuesOf(pageOf('pay'), 'a', 'href')).toContain(uri);
  });

  /** The contents of the page's codes, in order, found by comparing the drawn modules. */
  const codesOf = (markup: string, contents: readonly string[]): readonly (string | undefined)[] =>
    tagsOf(markup)
      .filter(({ name, attributes }) => name === 'path' && attributes.get('stroke') === '#000')
      .map(({ attributes }) =>
        contents.find((content) => {
          const alone = markupText(qrSvg(content, { id: '', title: '', description: '' }));
          return valuesOf(alone, 'path', 'd')[0] === attributes.get('d');
        }),
      );

  const { address } = USDT_QUOTE;
  const tokenUri = `ethereum:0xc2132D05D31c914a87C6611C10748AEb04B58e8F@137/transfer?address=${address}&uint256=49000001`;
  const bitcoinUri = `bitcoin:${BTC_QUOTE.address}?amount=0.00081667`;
  const contents = [address, tokenUri, BTC_QUOTE.address, bitcoinUri];

  it('gives a token’s plain address first, for what names its contract only to the wallets that read it', () => {
    const markup = pageOf('pay, token with a link');
    expect(codesOf(markup, contents)).toEqual([address, tokenUri]);
    const [before, rest] = markup.split('<details class="code-amount"');
    const behind = `<details${rest}`;
    expect(before).not.toContain('ethereum:');
    expect(textOf(before ?? '')).toContain('This code contains only the address. Enter the amount yourself.');
    expect(textOf(behind)).toContain('Code with the amount: MetaMask, Rainbow Only for these wallets.');
    expect(valuesOf(behind, 'a', 'href')).toContain(tokenUri);
  });

  it('gives a token whose contract is not known no other code than its address', () => {
    const markup = pageOf('pay, token');
    expect(codesOf(markup, contents)).toEqual([address]);
    expect(markup).not.toContain('code-amount');
  });

  it('gives a chain’s own coin its amount in the first code and nothing else', () => {
    const markup = pageOf('pay');
    expect(codesOf(markup, contents)).toEqual([bitcoinUri]);
    expect(textOf(markup)).not.toContain('contains only the address');
    const ether = viewOf(
      {
        status: 'pending',
        quote: { ...USDT_QUOTE, asset: 'ETH', network: 'base', decimals: 18, owedUnits: 10n ** 16n },
      },
      { evm: { chainId: 8_453, contract: null } },
    );
    const uri = `ethereum:${address}@8453?value=10000000000000000`;
    expect(codesOf(render(ether).html, [address, uri])).toEqual([uri]);
    expect(valuesOf(render(ether).html, 'a', 'href')).toContain(uri);
  });

  it('names Trust Wallet on Ethereum, the one network whose links it reads', () => {
    const on = (network: 'ethereum' | 'bsc'): string =>
      textOf(
        render(
          viewOf(
            { status: 'pending', quote: { ...USDT_QUOTE, network } },
            { evm: { chainId: 1, contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7' } },
          ),
        ).html,
      );
    expect(on('ethereum')).toContain('Code with the amount: MetaMask, Rainbow, Trust Wallet');
    expect(on('bsc')).not.toContain('Trust Wallet');
  });

  it('says that the coin was changed as often as it can be, with the way out', () => {
    const page = render(viewOf({ quote: BTC_QUOTE, status: 'pending' }, { notice: 'too_many_changes' }));
    expect(page.status).toBe(400);
    expect(textOf(page.html)).toContain('Pay with the coin you chose, or start again in the shop.');
  });

  it('shows the amount to the last unit, never rounded', () => {
    expect(textOf(pageOf('pay, token'))).toContain('Send exactly 49.000001 USDT Copy amount Network Polygon');
    const owedUnits = 123_456_789_012_345_678n;
    const view = viewOf({ status: 'pending', quote: { ...BTC_QUOTE, owedUnits } });
    expect(textOf(render(view).html)).toContain('1234567890.12345678 BTC');
  });

  it('says what one coin counts as, and until when', () => {
    expect(textOf(pageOf('pay'))).toContain('1 BTC = $60,000.00, rate locked until 2:04:30 PM UTC');
    expect(textOf(pageOf('pay, token'))).toContain('1 USDT = $1.00, rate locked until');
  });

  it('names a price that asks for the amount owed, whatever the price was', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 8n), fc.bigInt(10n ** 8n, 10n ** 14n), (amountMinor, priceE8) => {
        const owedUnits = quoteUnits(amountMinor, 'USD', 10n ** 8n, priceE8, 8);
        const priced = { amountMinor, currency: 'USD', quote: { ...BTC_QUOTE, owedUnits } } as const;
        const said = /^1 BTC = \$([\d,.]+)$/.exec(textOf(markupText(rateOf(ENGLISH, priced))))?.[1] ?? '';
        const price = Number(said.replaceAll(',', ''));
        const paid = Number(amountMinor) / 100 / price;
        // Shown to the cent, or to a hundredth of it below ten.
        const rounding = (price < 10 ? 0.00005 : 0.005) / price;
        expect(Math.abs(Number(owedUnits) / 1e8 - paid)).toBeLessThanOrEqual(1.1e-8 + paid * rounding * 1.1);
      }),
    );
  });

  it('helps who pays from an exchange: network, fee, time', () => {
    const [, help = ''] = pageOf('pay, token').split('<details class="exchange"');
    const text = textOf(`<details${help}`);
    expect(text).toContain(
      'Paying from an exchange? Withdraw USDT on Polygon. The shop can’t receive USDT on Tron (TRC-20) here.',
    );
    expect(text).toContain('49.000001 USDT must arrive. If the exchange deducts a fee, add the fee to this amount.');
    expect(text).toContain('Check the minimum withdrawal amount, and start soon');
    expect(textOf(pageOf('pay'))).not.toContain('Tron');
  });

  it('leaves no last group of an address that is too short to compare', () => {
    const [, address = ''] = /<p class="address"[^>]*>(.*?)<\/p>/s.exec(pageOf('pay')) ?? [];
    const groups = [...address.matchAll(/<span>(.*?)<\/span>/g)].map(([, group]) => group);
    expect(groups.at(0)).toBe('bc1q');
    expect(groups.at(-1)).toBe('wf5mdq');
    expect(groups.join('')).toBe(BTC_QUOTE.address);
  });

  it('writes what is pegged to a currency like that currency', () => {
    const view = viewOf({ status: 'pending', quote: { ...USDT_QUOTE, owedUnits: 49_900_000n }, amountMinor: 4_990n });
    expect(textOf(render(view).html)).toContain('Send exactly 49.90 USDT');
  });

  it('says how long there is and until when', () => {
    expect(textOf(pageOf('pay'))).toContain('Time left 23 minutes Pay before 2:04:30 PM UTC');
  });

  it('asks for the rest once a part has come, and no longer offers to cancel or change', () => {
    const markup = pageOf('partly paid');
    expect(textOf(markup)).toContain('Received 0.00030000 BTC ≈ $18.00');
    expect(textOf(markup)).toContain('too small to send? The shop can accept the part that arrived. Contact the shop');
    expect(textOf(markup)).toContain('Now send exactly 0.00051667 BTC');
    expect(valuesOf(markup, 'a', 'href')).toContain(`bitcoin:${BTC_QUOTE.address}?amount=0.00051667`);
    expect(valuesOf(markup, 'form', 'action')).toEqual([]);
    expect(markup).not.toContain('choose=token');
  });

  it('never asks for a rest that is too small to be sent', () => {
    const view = viewOf({ status: 'pending', quote: BTC_QUOTE, received: money(81_200n) });
    expect(view.step).toMatchObject({ kind: 'pay', missingUnits: 546n });
  });

  it('lets transactions change the token, not orders', () => {
    expect(valuesOf(pageOf('pay'), 'a', 'href')).toContain(`${PAY}?choose=token`);
    const order = render(viewOf({ status: 'pending', quote: BTC_QUOTE, api: 'order' })).html;
    expect(order).not.toContain('choose=token');
    expect(valuesOf(order, 'form', 'action')[0]).toMatch(/^\/pay\/ord_[0-9a-z]{26}\/cancel$/);
  });

  it('asks nobody to pay after the time is over', () => {
    const markup = pageOf('checking');
    expect(textOf(markup)).toContain('Don’t send anything now.');
    expect(markup).not.toContain(BTC_QUOTE.address);
  });

  it('waits as long as the grace for a replaced payment lasts', () => {
    const view = viewOf({ status: 'pending', quote: BTC_QUOTE, expiresAt: NOW - 1, graceUntil: NOW + 60_000 });
    expect(view.step.kind).toBe('pay');
  });

  it('says why an action was refused, with an error status', () => {
    expect(render(viewOf({ quote: BTC_QUOTE, status: 'pending' }, { notice: 'money_seen' })).status).toBe(400);
    expect(render(viewOf({}, { notice: 'price_unavailable' })).status).toBe(503);
    expect(tagsOf(pageOf('pay, refused')).filter((tag) => tag.attributes.get('role') === 'alert')).toHaveLength(1);
  });
});

describe('after the payment', () => {
  it('shows what was seen and how far it is confirmed', () => {
    expect(textOf(pageOf('detected'))).toContain('Payment detected');
    expect(textOf(pageOf('detected'))).toContain(HASH);
    expect(textOf(pageOf('confirming'))).toContain('Confirmations: 3 of 12');
  });

  it('says when it is usually done, by the network’s average', () => {
    expect(textOf(pageOf('detected'))).toContain('This usually takes about 10 minutes.');
    // Nine blocks of ten minutes, from 1:41:30.
    expect(textOf(pageOf('confirming'))).toContain('About 10 minutes each. Usually done by 3:12:00 PM UTC.');
  });

  it('links a transaction to the explorer of its chain, where the chain has one', () => {
    const markup = pageOf('completed, with an explorer');
    expect(linksOf(markup)).toContain(`https://mempool.space/tx/${HASH}`);
    expect(textOf(markup)).toContain('View on mempool.space');
    expect(textOf(pageOf('completed'))).not.toContain('View on');
    expect(valuesOf(markup, 'button', 'data-copy')).toEqual([HASH]);
  });

  const withSupport = (supportUrl: string) => ({ frame: { ...FRAME, branding: { ...FRAME.branding, supportUrl } } });

  it('writes on the receipt what was paid where, at which rate, and whom to ask', () => {
    const paid = { status: 'completed', quote: BTC_QUOTE, received: money(81_667n), completedAt: NOW } as const;
    const text = textOf(render(viewOf(paid, withSupport('mailto:help@shop.example'))).html);
    expect(text).toContain('Rate 1 BTC = $60,000.00');
    expect(text).toContain(`Address ${BTC_QUOTE.address}`);
    expect(text).toContain('Contact help@shop.example');
    expect(text).toContain('This page is your receipt. Keep the link to this page.');
  });

  it.each(['expired', 'cancelled after choosing'])('tells who has just sent what happens to it when %s', (state) => {
    const text = textOf(pageOf(state));
    expect(text).toContain('Already sent your payment? Don’t send the money again.');
    expect(text).toContain('If your payment arrives by November 28, 2025');
    expect(text).toContain('Contact the shop and mention order NW-10442 (payment TXN-2025-000123).');
    expect(text).toContain('Start again at Northwind Tea');
  });

  it('gives them the shop’s help where they read it, and promises nothing once it is no longer watched', () => {
    const expired = { status: 'expired', quote: BTC_QUOTE } as const;
    const { html } = render(viewOf(expired, withSupport('https://shop.example/help')));
    const [card = ''] = html.split('<footer>');
    expect(linksOf(card)).toContain('https://shop.example/help');
    const later = viewOf(expired, { now: NOW + 8 * 24 * 60 * 60_000 });
    expect(textOf(render(later).html)).not.toContain('If your payment arrives by');
  });

  it('shows the shop’s words in every state, as text, with links that tell the other site nothing', () => {
    const branding = {
      ...FRAME.branding,
      iconPath: '/assets/logo.0f',
      pageText: '<img src=x> Open \u200f9–17',
      termsUrl: 'https://shop.example/terms?"><b>',
      imprintUrl: 'https://shop.example/imprint',
    };
    for (const [state, view] of STATES) {
      const { html } = render({ ...view, frame: { ...view.frame, branding } });
      expect({ state, text: textOf(html) }).toMatchObject({
        text: expect.stringContaining('<img src=x> Open \u200f9–17 Terms Imprint'),
      });
      const links = tagsOf(html).filter(({ attributes }) => attributes.get('rel') === 'noopener noreferrer');
      expect(links.map(({ attributes }) => attributes.get('href'))).toEqual([branding.termsUrl, branding.imprintUrl]);
      expect(valuesOf(html, 'link', 'href')[0]).toBe('/assets/logo.0f');
    }
    const plain = pageOf('pay');
    expect(plain).not.toMatch(/class="(?:words|links)"/);
    expect(valuesOf(plain, 'link', 'href')[0]).toMatch(/^data:image/);
  });

  it('has nothing to say about money to who was never shown an address', () => {
    expect(textOf(pageOf('cancelled'))).not.toContain('Already sent your payment?');
  });

  it('does not blame the clock where the payment was cancelled before the money came', () => {
    const late = textOf(pageOf('cancelled, paid late'));
    expect(late).toContain('The money arrived after the payment was cancelled.');
    expect(late).not.toContain('run out');
    const accepted = textOf(pageOf('cancelled, paid late, accepted'));
    expect(accepted).toContain('arrived after the payment was cancelled. The shop accepted the payment anyway.');
    expect(textOf(pageOf('paid late'))).toContain('arrived after the payment had expired');
  });

  it('gives a receipt and the way back to the shop with the payment id', () => {
    const markup = pageOf('completed');
    for (const fact of [
      '$49.00 USD',
      '0.00081667 BTC',
      'TXN-2025-000123',
      'November 21, 2025 at 1:41:30 PM UTC',
      HASH,
    ]) {
      expect(textOf(markup)).toContain(fact);
    }
    expect(linksOf(markup)).toEqual([
      'https://shop.example/thanks?cart=9&payment_id=01935a3c-0000-7000-8000-000000000001',
    ]);
  });

  it('says what is unusual about a completed payment', () => {
    const overpaid = textOf(pageOf('overpaid'));
    expect(overpaid).toContain('You overpaid by 0.00010000 BTC (≈ $6.00)');
    expect(overpaid).toContain('Contact the shop and mention order NW-10442 (payment TXN-2025-000123).');
    expect(overpaid).toContain('Amount due 0.00081667 BTC Paid 0.00091667 BTC');
    expect(textOf(pageOf('underpaid, accepted'))).toContain('Amount due 0.00081667 BTC Paid 0.00080000 BTC');
    expect(textOf(pageOf('completed'))).not.toContain('Amount due');
  });

  it('says what came in another token, in place of what to do about money that was not seen', () => {
    const expired = textOf(pageOf('expired, money in another token'));
    expect(expired).toContain('0.01234 ETH arrived on Ethereum, but you must make this payment in USDT on Polygon.');
    expect(expired).not.toContain('Already sent your payment?');
    expect(textOf(pageOf('pay, money in another token'))).toContain('30.50 USDC arrived on Polygon');
  });

  it.each(['expired', 'cancelled', 'paid late', 'underpaid', 'unconfirmed'])(
    'leads back to the cancel URL and asks for no money when %s',
    (state) => {
      const markup = pageOf(state);
      expect(linksOf(markup)).toEqual(['https://shop.example/cart?payment_id=01935a3c-0000-7000-8000-000000000001']);
      expect(markup).not.toContain(BTC_QUOTE.address);
      expect(valuesOf(markup, 'form', 'action')).toEqual([]);
    },
  );

  it('says that late or partial money is not lost, and that more is not wanted when none came', () => {
    expect(textOf(pageOf('paid late'))).toContain('Your payment arrived late');
    expect(textOf(pageOf('paid late'))).toContain('Your money is not lost');
    const part = textOf(pageOf('expired, partly paid late'));
    expect(part).toContain('Your payment arrived late Part of the amount arrived after the payment had expired.');
    expect(part).not.toContain('No payment was detected');
    expect(textOf(pageOf('underpaid'))).toContain('Received 0.00030000 BTC ≈ $18.00');
    expect(textOf(pageOf('expired'))).toContain('Don’t send anything now. If you still want to buy, start again');
  });

  it('has no link to the shop before the state is final', () => {
    for (const [state, { step }] of STATES) {
      if (step.kind === 'completed' || step.kind === 'closed') continue;
      expect(pageOf(state)).not.toContain('shop.example');
    }
  });

  it('makes no link of a URL that could run a script', () => {
    const view = viewOf({ status: 'cancelled', cancelUrl: 'javascript:alert(1)' });
    const { html } = render(view);
    expect(html).not.toContain('javascript:');
    expect(textOf(html)).toContain('You can close this page now.');
  });
});

describe('test mode', () => {
  it('is unmistakable and says what happens by itself', () => {
    const markup = pageOf('pay, test');
    expect(textOf(markup)).toContain(
      'Test mode No real money. This payment completes automatically at 1:42:30 PM UTC.',
    );
    expect(textOf(markup)).toContain('Don’t send anything.');
    expect(markup).toContain('<title>TEST: Waiting for your payment - Northwind Tea</title>');
    expect(textOf(pageOf('pay'))).not.toContain('Test mode');
  });

  it('says that a payment which ends first expires', () => {
    const view = viewOf({ mode: 'test', completesAt: null, expiresAt: NOW + 60_000 });
    expect(textOf(render(view).html)).toContain('expires automatically at 1:42:30 PM UTC');
  });

  it('offers to simulate only outcomes that are not refused', () => {
    const offered = (changes: Parameters<typeof viewOf>[0]) =>
      valuesOf(render(viewOf({ mode: 'test', ...changes })).html, 'option', 'value');
    const open = ['paid', 'confirming', 'part', 'over', 'late', 'failed', 'expired', 'replaced', 'reorged'];
    expect(offered({})).toEqual([...open, 'wrong_asset']);
    const processing = ['paid', 'confirming', 'over', 'failed', 'expired', 'replaced', 'reorged'];
    expect(offered({ status: 'processing', ...BTC_PAID })).toEqual(processing);
    expect(offered({ status: 'confirming', ...BTC_PAID })).toEqual(['paid', 'over', 'reorged']);
    expect(offered({ status: 'completed', ...BTC_PAID })).toEqual([]);
  });

  it('gives no real wallet anything to pay', () => {
    const view = viewOf({ mode: 'test', status: 'pending', quote: BTC_QUOTE }, { payable: false });
    expect(view.step).toMatchObject({ kind: 'pay', paymentUri: null });
    expect(textOf(render(view).html)).not.toContain('Open in your wallet');
  });
});

describe('updating without a script', () => {
  const seconds = (view: PaymentView): string | undefined =>
    valuesOf(render(view).html, 'meta', 'content').find((content) => content.includes('url='));

  it('is frequent while something is awaited, slow while paying, and stops at the end', () => {
    const refreshes = [...STATES].map(([state, view]) => [state, seconds(view) ?? null]);
    expect(Object.fromEntries(refreshes)).toMatchObject({
      pay: `15; url=${PAY}?watching=1`,
      detected: `5; url=${PAY}?watching=1`,
      confirming: `5; url=${PAY}?watching=1`,
      checking: `5; url=${PAY}?watching=1`,
      completed: null,
      expired: null,
      cancelled: null,
      underpaid: null,
    });
  });

  it('leaves the customer alone while he chooses, until the moment that ends the choice', () => {
    expect(seconds(viewOf({ expiresAt: NOW + 600_000 }))).toBe(`601; url=${PAY}?watching=1`);
    expect(seconds(viewOf({ mode: 'test', completesAt: NOW + 42_000 }))).toBe(`43; url=${PAY}?watching=1`);
  });

  it('can be switched off and on by a link', () => {
    const off = render({ ...viewOf(), frame: { ...FRAME, autoRefresh: false } }).html;
    expect(off).not.toContain('http-equiv="refresh"');
    expect(valuesOf(off, 'a', 'href')).toContain(PAY);
    expect(valuesOf(off, 'form', 'action')[0]).toBe(`${PAY}/token?refresh=off`);
    expect(valuesOf(pageOf('choose'), 'a', 'href')).toContain(`${PAY}?refresh=off`);
  });
});

describe('every state', () => {
  it.each([...STATES.keys()])('is sound markup that a strict policy allows: %s', (state) => {
    const markup = pageOf(state);
    const tags = tagsOf(markup);
    const ids = tags.flatMap((tag) => tag.attributes.get('id') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, attributes } of tags) {
      expect(['style', 'iframe', 'object']).not.toContain(name);
      // Data is no script.
      const isInline = name === 'script' && !attributes.has('src') && attributes.get('type') !== 'application/json';
      expect(isInline).toBe(false);
      expect([...attributes.keys()].filter((key) => key === 'style' || key.startsWith('on'))).toEqual([]);
      for (const reference of ['aria-labelledby', 'aria-describedby', 'for']) {
        for (const id of attributes.get(reference)?.split(' ') ?? []) expect(ids).toContain(id);
      }
    }
    expect(markup.match(/<form.*?<\/form>/gs) ?? []).toSatisfy((forms: string[]) =>
      forms.every((form) => /<button type="submit"[^>]*>[^<]*(?:<[^>]+>[^<]*)*\w/.test(form)),
    );
    const types = tags.filter((tag) => tag.name === 'input').map((tag) => tag.attributes.get('type'));
    expect(types.filter((type) => type !== 'hidden' && type !== 'checkbox')).toEqual([]);
  });

  it.each([...STATES.keys()])('has one heading, its landmarks, a title and a polite status: %s', (state) => {
    const tags = tagsOf(pageOf(state));
    for (const name of ['h1', 'h2', 'main', 'header', 'footer', 'html']) {
      expect(tags.filter((tag) => tag.name === name)).toHaveLength(1);
    }
    expect(tags.find((tag) => tag.name === 'html')?.attributes.get('lang')).toBe('en');
    expect(tags.filter((tag) => tag.attributes.get('aria-live') === 'polite')).toHaveLength(1);
    expect(pageOf(state)).toMatch(/<title>(TEST: )?[A-Z][a-z :]+ - Northwind Tea<\/title>/);
  });

  it.each([...STATES.keys()])('tells nothing of the customer and nothing of the metadata: %s', (state) => {
    for (const secret of [
      'ada@customer.example',
      'Ada Customer',
      'metadata-value',
      '01935a3c-0000-7000-8000-00000000000a',
    ]) {
      expect(pageOf(state)).not.toContain(secret);
    }
  });

  it('escapes whatever a shop writes', () => {
    // Lines are kept: a description of several stands elsewhere.
    const calmed = (text: string): string => text.replaceAll(/[^\n]/g, 'x');
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '<script>alert(1)</script>',
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='x",
        '</title><b>',
        '&lt;',
      ),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...STATES.keys()),
        fc.record({ description: hostile, merchantOrderId: hostile, transactionNumber: hostile }),
        hostile,
        (state, texts, projectName) => {
          const view = STATES.get(state) ?? viewOf();
          const calm = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, calmed(text)]));
          const shape = (page: PaymentView): string[] =>
            tagsOf(render(page).html).map(({ name, attributes }) => [name, ...attributes.keys()].join(' '));
          const named = (name: string) => ({ frame: { ...FRAME, branding: { ...FRAME.branding, projectName: name } } });
          expect(shape({ ...view, ...texts, ...named(projectName) })).toEqual(
            shape({ ...view, ...calm, ...named(calmed(projectName)) }),
          );
        },
      ),
    );
  });
});

describe('every language', () => {
  it('puts a space between sentences where the language writes one', () => {
    const detected = (code: string): string => {
      const locale = LANGUAGES.get(code) ?? ENGLISH;
      return textOf(render({ ...viewOf({ status: 'processing', ...BTC_PAID }), frame: { ...FRAME, locale } }).html);
    };
    expect(detected('en')).toContain('in a block yet. This usually takes');
    expect(detected('ja')).toContain('待っています。通常は');
  });

  it.each([...LANGUAGES.values()])('has every state as sound markup, in its own direction: $name', (locale) => {
    for (const view of STATES.values()) {
      const { html } = render({ ...view, frame: { ...view.frame, locale } });
      const [root] = tagsOf(html);
      expect(root?.attributes.get('lang')).toBe(locale.code);
      expect(root?.attributes.get('dir')).toBe(locale.direction);
      expect(textOf(html)).not.toMatch(/[{}]|undefined/);
    }
  });
});
