import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Simulation } from '../../src/domain/simulation.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { formatDecimal } from '../../src/domain/money.ts';
import type { Received, Payment } from '../../src/domain/payment.ts';
import { hasNoBrowser } from '../browser.ts';
import { client } from '../program.ts';
import {
  beginningOf,
  isShown,
  press,
  say,
  sees,
  SHOP,
  shownPayment,
  until,
  useCheckout,
  type Made,
} from './payment-page.fixture.ts';

const TRANSACTION = {
  amount: 49.99,
  order_id: 'SHOP-1',
  order_description: 'Two <b>lamps</b>',
  success_url: 'https://shop.example/thanks?a=1&b=2',
  cancel_url: 'https://shop.example/cart',
};
/** An order of 10 USD, at the sandbox's prices. */
const ORDER = {
  amount: 10,
  crypto_currency: 'LTC',
  success_url: TRANSACTION.success_url,
  cancel_url: TRANSACTION.cancel_url,
};
const OWED_UNITS = 12_500_000n;
const ltc = (units: bigint) => `${formatDecimal(units, 8)} LTC`;

describe.skipIf(hasNoBrowser)('the payment page in a browser', () => {
  const checkout = useCheckout();
  const { pay, read, openTab } = checkout;

  describe.each([
    ['without JavaScript', false],
    ['with JavaScript', true],
  ])('%s', (_name, javaScriptEnabled) => {
    async function open({ url }: { readonly url: string }): Promise<Page> {
      // Twenty seconds after its end a payment's page redirects to the shop, which does not exist here.
      const { page } = await openTab({ javaScriptEnabled, expects: /shop\.example/ });
      await page.goto(url);
      return page;
    }
    /** Without JavaScript a page loads itself again within seconds; the customer may be faster. */
    async function look(page: Page): Promise<void> {
      if (!javaScriptEnabled) await page.reload();
    }

    it('leads from the choice of a coin to amount and address, to another coin, and to what is cancelled', async () => {
      const payment = await pay(TRANSACTION);
      const page = await open(payment);
      await sees(page, say('choose_title'), say('choose_text'), say('test_mode'), beginningOf('test_completes'));
      await sees(page, TRANSACTION.order_description, TRANSACTION.order_id, '$49.99');
      await page.getByRole('button', { name: /Bitcoin/ }).click();

      await sees(page, say('pay_title'), say('test_no_send'), say('compare'), beginningOf('pay_before'));
      const inBitcoin = await read(payment);
      expect(inBitcoin).toMatchObject({ status: 'pending', crypto_currency: 'BTC', crypto_amount: 0.00083317 });
      expect(await shownPayment(page)).toEqual({ amount: '0.00083317', address: inBitcoin['address'] });
      const code = say('qr_title', {
        amount: '0.00083317',
        token: say('token_on', { asset: 'BTC', network: 'Bitcoin' }),
      });
      expect(await page.getByRole('img', { name: code }).isVisible()).toBe(true);
      expect(page.url()).toBe(payment.url);
      for (const key of ['copy_amount', 'copy_address'] as const)
        expect(await page.getByRole('button', { name: say(key) }).isVisible()).toBe(javaScriptEnabled);

      await page.getByRole('link', { name: say('other_token') }).click();
      const current = say('token_on', { asset: 'BTC', network: 'Bitcoin' });
      await page.getByRole('link', { name: say('keep_token', { token: current }) }).waitFor();
      await page.locator('summary', { hasText: 'USDC' }).click();
      await sees(page, say('pick_network', { asset: 'USDC' }));
      await page.getByRole('button', { name: say('token_on', { asset: 'USDC', network: 'Ethereum' }) }).click();
      await sees(page, say('to_address', { network: 'Ethereum (ERC-20)' }));
      const inDollars = await read(payment);
      expect(inDollars).toMatchObject({ status: 'pending', crypto_currency: 'USDC', network: 'ethereum' });
      expect(await shownPayment(page)).toEqual({ amount: '49.99', address: inDollars['address'] });
      expect(inDollars['address']).not.toBe(inBitcoin['address']);

      await page.locator('summary', { hasText: say('cancel') }).click();
      await sees(page, say('cancel_text'));
      await page.getByRole('button', { name: say('cancel_yes') }).click();
      await sees(page, say('cancelled_title'), say('cancelled_text'), say('nothing_came'), say('test_ended'));
      expect(await read(payment)).toMatchObject({ status: 'cancelled' });
      expect(await backToShop(page)).toBe(`${TRANSACTION.cancel_url}?payment_id=${payment.id}`);
      expect(await page.locator('form').count()).toBe(0);
    });

    it('asks for the rest when a part has come, and ends with the receipt', async () => {
      const payment = await pay({ ...TRANSACTION, amount: 10 });
      const page = await open(payment);
      await page.getByRole('button', { name: /Litecoin/ }).click();
      await sees(page, say('pay_title'));
      await press(page, 'simulate_part');
      await sees(page, say('part_title'), say('send_rest'));
      expect(await factsOf(page)).toMatchObject({
        [say('asked_for')]: '0.1250 LTC ≈ $10.00',
        [say('received')]: '0.0625 LTC ≈ $5.00',
        [say('still_missing')]: '0.0625 LTC ≈ $5.00',
      });
      expect(await shownPayment(page)).toMatchObject({ amount: formatDecimal(OWED_UNITS / 2n, 8) });
      for (const key of ['other_token', 'cancel'] as const)
        expect(await page.getByText(say(key), { exact: true }).count()).toBe(0);

      await press(page, 'simulate_paid');
      await sees(
        page,
        say('completed_title'),
        say('completed_text', { shop: SHOP }),
        say('receipt'),
        say('test_ended'),
      );
      const { transaction_number: number, transaction_hash: hash } = await read(payment);
      expect(await factsOf(page)).toMatchObject({
        [say('paid_to')]: SHOP,
        [say('for')]: TRANSACTION.order_description,
        [say('paid')]: ltc(OWED_UNITS),
        [say('network')]: 'Litecoin',
        [say('order')]: TRANSACTION.order_id,
        [say('payment')]: number,
        [say('transaction')]: hash,
        [say('test')]: say('no_money_moved'),
      });
      expect(await backToShop(page)).toBe(`${TRANSACTION.success_url}&payment_id=${payment.id}`);
      expect(await page.getByRole('button', { name: say('print') }).isVisible()).toBe(javaScriptEnabled);
      expect(await page.locator('form, [data-address]').count()).toBe(0);
    });

    it('says by how much it was overpaid', async () => {
      const payment = await pay(ORDER);
      const page = await open(payment);
      await press(page, 'simulate_over');
      await sees(page, say('completed_title'), say('receipt'));
      const { amount_received: received } = await read(payment);
      const overUnits = BigInt(Math.round(Number(received) * 1e8)) - OWED_UNITS;
      const worth = ((ORDER.amount * Number(overUnits)) / Number(OWED_UNITS)).toFixed(2);
      await sees(page, say('overpaid', { amount: `${ltc(overUnits)} (≈ $${worth})` }));
      expect(await backToShop(page)).toBe(`${TRANSACTION.success_url}&payment_id=${payment.id}`);
    });

    it.each<[string, readonly Simulation[], (payment: Made) => readonly string[]]>([
      ['expired', ['expired'], () => [say('expired_title'), say('expired_text'), say('nothing_came')]],
      ['expired with a part', ['part', 'expired'], partLost],
      ['paid late', ['late'], (payment) => [say('late_title'), say('late_text'), ...safe(payment, 'money_safe')]],
      [
        'never confirmed',
        ['failed'],
        (payment) => [say('failed_title'), say('unconfirmed_text'), ...safe(payment, 'money_unconfirmed')],
      ],
    ])('says what became of a payment that was %s', async (_name, outcomes, texts) => {
      const payment = await pay(ORDER);
      const page = await open(payment);
      await sees(page, say('pay_title'));
      for (const outcome of outcomes) await press(page, `simulate_${outcome}`);
      await sees(page, ...texts(payment), say('test_ended'), say('private_final'));
      expect(await backToShop(page)).toContain(`payment_id=${payment.id}`);
      expect(await page.locator('form, [data-address]').count()).toBe(0);
    });

    it('shows money that is seen, that is being confirmed, and the time when nothing may be sent any more', async () => {
      const payment = await pay(ORDER);
      const page = await open(payment);
      await sees(page, say('pay_title'));
      await checkout.move(payment, (before) => ({
        ...before,
        status: 'processing',
        completesAt: null,
        received: moneyOf(before, 0n),
      }));
      await look(page);
      await sees(page, say('detected_title'), say('detected_text', { network: 'Litecoin' }), say('nothing_to_do'));
      expect(await factsOf(page)).toMatchObject({ [say('received')]: ltc(OWED_UNITS), [say('network')]: 'Litecoin' });
      await sees(page, say('test_by_hand'));
      expect(await page.locator('[data-address]').count()).toBe(0);
      await checkout.move(payment, (before) => ({
        ...before,
        status: 'confirming',
        received: moneyOf(before, OWED_UNITS),
      }));
      await look(page);
      await sees(page, say('confirming_title'), say('confirming_text'), say('confirming_means'), say('nothing_to_do'));
      expect(await page.locator('.stages [aria-current]').innerText()).toBe(say('stage_confirmed'));

      const other = await pay(ORDER);
      // Nothing is due, as if the chain had not been read that far yet.
      await checkout.setTimes(other, { expires_at: new Date(), due_at: null });
      await page.goto(other.url);
      await sees(page, say('checking_title'), say('checking_text'), say('checking_hint'));
      expect(await page.locator('[data-address]').count()).toBe(0);
    });

    it('offers a refund, takes the address for it, and says that it is on its way and that it was sent', async () => {
      const payment = await pay(ORDER);
      await checkout.simulate(payment, 'over');
      const { page, context } = await openTab({ javaScriptEnabled, expects: /status of 400/ });
      await page.goto(payment.url);
      await sees(page, say('completed_title'));
      const { status } = await checkout.service.api('/v1/refunds', { order_id: payment.id, crypto_amount: 0.0625 });
      expect(status).toBe(200);
      await page.reload();
      const amount = ltc(6_250_000n);
      await sees(page, say('refund_offer_title'), say('refund_offer_text', { amount }));
      await page.getByRole('link', { name: say('refund_offer_link') }).click();

      await sees(page, say('claim_title'), say('claim_text', { shop: SHOP, amount }), say('test_refund'));
      const other = await context.newPage();
      await other.goto(page.url());
      const label = say('claim_label', { name: 'Litecoin', asset: 'LTC', network: 'Litecoin' });
      await page.getByLabel(label).fill('0x71C7656EC7ab88b098defB751B7401B5f6d8976F');
      await page.getByRole('button', { name: say('claim_button') }).click();
      await page
        .getByRole('alert')
        .getByText(say('claim_invalid', { asset: 'LTC', network: 'Litecoin' }))
        .waitFor();
      expect(await page.getByLabel(label).inputValue()).toBe('0x71C7656EC7ab88b098defB751B7401B5f6d8976F');
      await page.getByLabel(label).fill(REFUND_ADDRESS);
      await page.getByRole('button', { name: say('claim_button') }).click();

      await sees(page, say('refund_waiting_title'), say('refund_waiting_text', { shop: SHOP }));
      expect(await factsOf(page)).toMatchObject({ [say('your_address')]: REFUND_ADDRESS });
      // The form that is open elsewhere follows by itself. Without a script, a reload would lose what is typed.
      if (javaScriptEnabled) await sees(other, say('refund_waiting_title'));
      const claimUrl = page.url();
      await page.goto(payment.url);
      await sees(page, say('refund_sending', { amount }));
      // The sandbox pays refunds ten seconds after they have an address.
      const { db } = checkout.service.database;
      await db.updateTable('refunds').set({ due_at: new Date() }).where('status', '=', 'pending').execute();
      await until('the refund is settled', async () => {
        const { body } = await checkout.service.api(`/v1/refunds/${claimUrl.split('/').at(-1)}`);
        return body['status'] === 'completed';
      });
      await page.reload();
      await sees(page, say('refund_was_sent', { amount }));
      await page.goto(claimUrl);
      await sees(page, say('refund_sent_title'), say('refund_sent_text', { amount }));
      expect(await page.locator('form').count()).toBe(0);
    });

    it('says clearly that it knows no such payment or refund, and that a shop has no way to be paid yet', async () => {
      const { service } = checkout;
      const { page } = await openTab({ javaScriptEnabled, expects: /status of 404/ });
      const unknown = await page.goto(`${service.sandbox}/pay/ord_00000000000000000000000000`);
      expect(unknown?.status()).toBe(404);
      await sees(page, say('unknown_payment_title'), say('unknown_text'), say('unknown_payment_hint'));
      const refund = await page.goto(`${service.sandbox}/refund/re_00000000000000000000000000`);
      expect(refund?.status()).toBe(404);
      await sees(page, say('unknown_refund_title'), say('unknown_refund_hint'));

      const key = await service.command(
        `key create --project ${service.projectId} --mode live --kind secret --permission full --name Live`,
      );
      const live = client(service.live, textAt(key, 'key'));
      const { body } = await live('/api/transactions/create', TRANSACTION);
      await page.goto(textAt(body['transaction'], 'payment_url'));
      await sees(page, say('unavailable_title'), say('unavailable_text'), say('unavailable_hint'));
      expect(await isShown(page, say('test_mode'))).toBe(false);
    });
  });
});

/** An address of the Litecoin network, with the right checksum. */
const REFUND_ADDRESS = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';

function partLost(payment: Made): readonly string[] {
  return [say('failed_title'), say('underpaid_text'), ...safe(payment, 'money_safe')];
}

/** The text for a customer whose money did arrive. */
function safe({ id }: Made, key: 'money_safe' | 'money_unconfirmed'): readonly string[] {
  return [say(key), say('contact_shop', { payment: id })];
}

/** All that is owed: seen, and as much of it as is said in a block. */
function moneyOf({ quote }: Payment, minedUnits: bigint): Received {
  const sums = { seenUnits: quote?.owedUnits ?? 0n, minedUnits, confirmedUnits: 0n };
  return { all: sums, inTime: sums, transactionHash: null };
}

/** Terms and values of the page's lists of facts, as they are read; hashes and addresses without their gaps. */
async function factsOf(page: Page): Promise<Readonly<Record<string, string>>> {
  const rows = await page.locator('.facts > div').all();
  const facts = await Promise.all(
    rows.map(async (row): Promise<[string, string]> => {
      const value = row.locator('dd');
      const grouped = value.locator('.grouped');
      const isGrouped = (await grouped.count()) > 0;
      const text = isGrouped ? (await grouped.innerText()).replaceAll(/\s/g, '') : await value.innerText();
      return [await row.locator('dt').innerText(), text];
    }),
  );
  return Object.fromEntries(facts);
}

/** Where the way back to the shop leads. */
function backToShop(page: Page): Promise<string | null> {
  const again = say('start_again', { shop: SHOP });
  const back = say('back_to', { shop: SHOP });
  const link = page.getByRole('link', { name: back, exact: true });
  return link.or(page.getByRole('link', { name: again, exact: true })).getAttribute('href');
}
