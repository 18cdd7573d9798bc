import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil, type Anvil } from '../anvil.ts';
import { hasNoBrowser } from '../browser.ts';
import { useDashboard } from './dashboard.fixture.ts';
import { charge, openCashier, post, saleOf, tap, typeAmount } from './till.fixture.ts';

/** 15 USD at the fixed price of 3,000 USD. */
const OWED = 5_000_000_000_000_000n;

describe.skipIf(hasNoBrowser)('The till on a real chain', () => {
  const started: Anvil[] = [];
  const chain = (): Anvil => {
    const [anvil] = started;
    if (anvil === undefined) throw new Error('The chain is started with the service.');
    return anvil;
  };
  const dashboard = useDashboard({
    settings: async () => {
      started.push(await startAnvil());
      return {
        ETHEREUM_RPC_URL: chain().url,
        ETHEREUM_CHAIN_ID: '31337',
        RATE_SOURCES: 'none',
        FIXED_RATES: 'ETH=3000,USDT=1,USDC=1',
      };
    },
  });
  beforeAll(async () => {
    const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const wallet = `--network ethereum --confirmations 3 --treasury ${treasury}`;
    await dashboard.service.command(`wallet set --project ${dashboard.service.projectId} ${wallet}`);
  });
  afterAll(() => chain().stop());

  it('shows money in its first block as seen, which counts below the limit, and then as confirmed', async () => {
    const { projectId } = dashboard.service;
    const { page: owner } = await dashboard.openSignedIn();
    await owner.goto(`${dashboard.service.dashboard}/projects/${projectId}/live`);
    const { page } = await openCashier(dashboard, { mode: 'live' });
    expect(await page.getByLabel('Test mode').count()).toBe(0);
    const sell = async (): Promise<void> => {
      await typeAmount(page, '1500');
      await charge(page);
      const path = `/dashboard/api/projects/${projectId}/live/till/sales/${saleOf(page)}`;
      const pay = await page.evaluate<{ readonly address: string; readonly uri: string }>(
        `fetch('${path}').then((one) => one.json()).then((sale) => sale.pay)`,
      );
      expect(pay.uri).toBe(`ethereum:${pay.address}@31337?value=${OWED}`);
      await chain().transfer(pay.address, OWED);
    };
    await sell();
    await page.getByRole('heading', { name: 'Seen, not paid yet' }).waitFor();
    await chain().mine(2);
    await page.getByText('Confirmed on the network.').waitFor();
    await tap(page, 'New sale').tap();

    expect(
      await post(owner, `projects/${projectId}/settings/till`, { seen_below: '20', currency: 'USD', tips: false }),
    ).toBe(200);
    await sell();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    await page.getByText(/^Seen on the network, without a doubtful sign/).waitFor();
    await chain().mine(2);
    await page.getByText('Confirmed on the network.').waitFor();
  });
});
