import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { signDelivery } from '../webhooks/signature.ts';
import { program } from './program.fixture.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

const LISTENING = /Listening on http:\/\/127\.0\.0\.1:(\d+)\//;

const BODY =
  '{"id":"evt_1","type":"order.completed","created_at":"2026-06-15T12:00:00.000Z","sequence":2,"data":{"object":"order",' +
  '"id":"ord_1","status":"completed","amount":0.01,"currency":"USD","crypto_currency":"BTC","crypto_amount":0.00000001,' +
  '"metadata":{"order_id":"SHOP-1"}}}';

function send(port: string | undefined, secret: string): Promise<Response> {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = { ...signDelivery({ secrets: [secret], id: 'evt_1', body: BODY, timestampSeconds }) };
  return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: BODY, headers });
}

it('prints a delivery as a readable block, says whether both signatures verify, and answers 200', async () => {
  const cointill = await program();
  const listener = cointill.start('webhook', 'listen', '--port', '0', '--secret', SECRET);
  const [, port] = await listener.waitFor(LISTENING);
  expect((await send(port, SECRET)).status).toBe(200);
  expect((await send(port, OTHER_SECRET)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(405);
  await listener.waitFor(/delivery 2\n[^]*Answered +200/);
  listener.signal('SIGTERM');
  const { code, stdout, stderr } = await listener.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`order.completed, event 2 of its payment
  Event                evt_1
  Order                ord_1
  Order id             SHOP-1
  Status               completed
  Amount               0.01 USD = 0.00000001 BTC
  x-service-signature  verified
  webhook-signature    verified
  Answered             200
`);
  expect(stdout).toContain('order.completed, event 2 of its payment, delivery 2\n');
  expect(stdout).toMatch(/x-service-signature {2}WRONG.*\n {2}webhook-signature {4}WRONG/);
});

it('answers 500 with --fail and prints one JSON document a line with --json', async () => {
  const cointill = await program();
  const listener = cointill.start('webhook', 'listen', '--port', '0', '--fail', '--json');
  const [, port] = await listener.waitFor(LISTENING);
  expect((await send(port, SECRET)).status).toBe(500);
  await listener.waitFor(/"answered_status"/);
  listener.signal('SIGTERM');
  const { code, stdout } = await listener.ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    type: 'order.completed',
    crypto_amount: '0.00000001',
    attempt: 1,
    service_signature: 'unchecked',
    standard_signature: 'unchecked',
    answered_status: 500,
  });
});

it('registers a temporary endpoint of a project, verifies with its secret and deletes it at the end', async () => {
  const app = await testApp();
  const cointill = await program({ DATABASE_URL: app.database.url });
  const listener = cointill.start('webhook', 'listen', '--port', '0', '--project', app.projectId);
  const [, id] = await listener.waitFor(/Registered as (we_\w+) for all events/);
  const sent = await cointill.json('webhook', 'test', String(id), '--type', 'order.exception');
  await cointill.json('webhook', 'retry', String(Object(sent).delivery_id));
  await listener.waitFor(/order\.exception[^]*x-service-signature {2}verified\n {2}webhook-signature {4}verified/);
  listener.signal('SIGINT');
  expect(await listener.ended).toMatchObject({ code: 0, stderr: '' });
  expect(await app.db.selectFrom('webhook_endpoints').select('id').where('deleted_at', 'is', null).execute()).toEqual(
    [],
  );
});

it('leaves nothing behind when the project is unknown, and names a port that is taken', async () => {
  const app = await testApp();
  const cointill = await program({ DATABASE_URL: app.database.url });
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = String(Object(taken.address()).port);
  const [unknown, busy] = await Promise.all([
    cointill.run('webhook', 'listen', '--port', '0', '--project', '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'),
    cointill.run('webhook', 'listen', '--port', port, '--project', app.projectId),
  ]);
  taken.close();
  expect(unknown).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^There is no project 0198a1b2/),
  });
  expect(busy).toEqual({
    code: 1,
    stdout: '',
    stderr: `Another program is using port ${port}. Choose another port with --port.\n`,
  });
  expect(await app.db.selectFrom('webhook_endpoints').selectAll().execute()).toEqual([]);
});
