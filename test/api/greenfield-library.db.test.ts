import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { httpTest } from '../http.ts';

/** The folder of the stock library `btcpayserver-greenfield-php`, which is not of this project. */
const library = process.env['GREENFIELD_PHP'] ?? '';

/** Why the library cannot be run here; null if it can. */
function missing(): string | null {
  if (!existsSync(path.join(library, 'src/Client/Invoice.php'))) return 'GREENFIELD_PHP names no copy of the library';
  try {
    execFileSync('php', ['-r', 'exit(extension_loaded("curl") && extension_loaded("bcmath") ? 0 : 1);']);
    return null;
  } catch {
    return 'php with curl and bcmath is not installed';
  }
}

const reason = missing();
const http = await httpTest();
afterAll(() => http.close());

it.skipIf(reason !== null)(
  `the plugins' library makes each of its calls and reads the answer${reason === null ? '' : ` (skipped: ${reason})`}`,
  async () => {
    const shop = await http.shop();
    const url = await http.server('test').listen({ host: '127.0.0.1', port: 0 });
    const program = path.join(import.meta.dirname, '../greenfield/library.php');
    const given = [library, url, await shop.key(), shop.projectId, 'http://127.0.0.1:9/hook'];
    const { stdout, stderr } = await promisify(execFile)('php', [program, ...given]);
    expect(stderr).toBe('');
    const text = expect.stringMatching(/^\d+(\.\d+)?$/);
    const paid = ['BTC-CHAIN', 'BTC', expect.stringMatching(/^tb1|^bc1/), text, text, text, '0', text, '0'];
    const transfer = [expect.stringMatching(/^[0-9a-f]{64}$/), expect.any(Number), text, '0', 'Settled'];
    expect(JSON.parse(stdout)).toEqual({
      health: true,
      info: ['2.0.0', true, expect.arrayContaining(['BTC-CHAIN'])],
      key: ['Shop', expect.arrayContaining([`btcpay.store.canviewinvoices:${shop.projectId}`])],
      store: [shop.projectId, 'Shop', '', 'USD'],
      terms: ['MediumSpeed', 1_800, 604_800],
      stores: 1,
      methods: expect.arrayContaining([expect.objectContaining({ enabled: true, paymentMethodId: 'BTC-CHAIN' })]),
      onChain: expect.any(Number),
      lightning: 0,
      webhook: ['http://127.0.0.1:9/hook', true, ['InvoiceSettled', 'InvoiceExpired']],
      changed: ['http://127.0.0.1:9/hook/new', true],
      webhooks: 2,
      secret: [expect.stringMatching(/^we_/), expect.stringMatching(/^[0-9a-zA-Z]{20,}$/)],
      invoice: [expect.stringMatching(/^inv_/), expect.stringContaining('/pay/inv_'), 'New', '49.99'],
      updated: { orderId: 'php-8' },
      found: 1,
      all: 1,
      settled: [true, false, false, 'Settled'],
      paid: [[...paid, ...transfer, expect.any(String)]],
      refund: [expect.stringMatching(/^re_/), expect.stringContaining('/refund/re_'), '10', false],
      invalid: true,
      checked: true,
      unknown: 404,
    });
  },
);
