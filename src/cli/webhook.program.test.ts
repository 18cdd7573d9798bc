import { expect, it } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { testService } from '../../test/program.ts';
import { DOCUMENTED_EVENTS } from '../domain/event-type.ts';
import { MESSAGE_TYPES } from '../domain/shop-message.ts';
import { receive } from '../webhooks/local-receivers.fixture.ts';
import { verifyServiceSignature } from '../webhooks/signature.ts';
import { program, textAt } from './program.fixture.ts';

function creation(projectId: string, mode: string, url: string, events: string): readonly string[] {
  return ['webhook', 'create', '--project', projectId, '--mode', mode, '--url', url, '--events', events];
}

it('makes, lists, rotates, enables and deletes an endpoint, its secret shown at creation and rotation only', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const url = 'http://127.0.0.1:9/hooks';
  const made = await cointill.json(...creation(projectId, 'test', url, 'all'));
  const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(made).toEqual({ id: expect.stringMatching(/^we_[0-9a-z]{26}$/), url, secret, events: DOCUMENTED_EVENTS });
  const id = textAt(made, 'id');

  const rotated = await cointill.json('webhook', 'rotate', id);
  expect(rotated).toEqual({ id, url, secret, previous_secret_until: expect.any(String) });
  expect(textAt(rotated, 'secret')).not.toBe(textAt(made, 'secret'));

  await database.db
    .updateTable('webhook_endpoints')
    .set({ disabled_at: new Date(), disabled_reason: 'Gone.' })
    .execute();
  const listed = await cointill.run('webhook', 'list', '--project', projectId, '--json');
  expect(JSON.parse(listed.stdout)).toEqual([
    {
      id,
      project_id: projectId,
      mode: 'test',
      url,
      events: DOCUMENTED_EVENTS,
      disabled_at: expect.any(String),
      paused_at: null,
      disabled_reason: 'Gone.',
      previous_secret_until: textAt(rotated, 'previous_secret_until'),
      created_at: expect.any(String),
    },
  ]);
  expect(listed.stdout).not.toContain('whsec_');
  expect(await cointill.json('webhook', 'enable', id)).toEqual({ id, enabled: true });
  const row = () => database.db.selectFrom('webhook_endpoints').selectAll().executeTakeFirst();
  expect(await row()).toMatchObject({ disabled_at: null, disabled_reason: null, deleted_at: null });
  expect(await cointill.json('webhook', 'delete', id)).toEqual({ id, deleted: true });
  expect(await row()).toMatchObject({ deleted_at: expect.any(Number) });
});

it('makes an endpoint for the plugin of a shop, with a secret of letters and digits, and lists its format', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const made = await cointill.json(
    ...creation(projectId, 'test', 'http://127.0.0.1:9/hooks', 'all'),
    '--format',
    'greenfield',
  );
  const secret = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(made).toMatchObject({ secret, format: 'greenfield', events: MESSAGE_TYPES });
  const listed = await cointill.run('webhook', 'list');
  expect(listed.stdout).toContain('greenfield: all');
  const wrong = await cointill.run(...creation(projectId, 'test', 'http://127.0.0.1:9/', 'InvoiceSettled'));
  expect(wrong.stderr).toContain('"InvoiceSettled" is not an event');
});

it('queues a test event, sends it at a retry by hand, and shows what was sent and answered', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  let status = 500;
  const receiver = await receive((response) => response.writeHead(status).end('noted'));
  const url = `http://127.0.0.1:${receiver.port}/`;
  const made = await cointill.json(...creation(projectId, 'test', url, 'order.cancelled'));
  const id = textAt(made, 'id');
  const sent = await cointill.json('webhook', 'test', id, '--type', 'refund.failed');
  expect(sent).toEqual({
    event_id: expect.stringMatching(/^evt_/),
    delivery_id: expect.stringMatching(/^dlv_\d+$/),
    type: 'refund.failed',
  });
  const delivery = textAt(sent, 'delivery_id');
  expect(receiver.requests).toEqual([]);

  const failed = await cointill.json('webhook', 'retry', delivery);
  expect(failed).toEqual({
    id: delivery,
    acknowledged: false,
    response_status: 500,
    error: null,
    duration_ms: expect.any(Number),
  });
  status = 204;
  expect(await cointill.json('webhook', 'retry', delivery)).toMatchObject({ acknowledged: true, response_status: 204 });
  const [request] = receiver.requests;
  const signature = String(request?.headers['x-service-signature']);
  expect(verifyServiceSignature(textAt(made, 'secret'), request?.body ?? '', signature)).toBe(true);

  const attempt = { manual: true, started_at: expect.any(String), duration_ms: expect.any(Number), error: null };
  const [listed, table] = await Promise.all([
    cointill.json('webhook', 'deliveries', id, '--limit', '5'),
    cointill.run('webhook', 'deliveries', id),
  ]);
  expect(listed).toMatchObject([
    {
      id: delivery,
      event_id: textAt(sent, 'event_id'),
      type: 'refund.failed',
      state: 'delivered',
      attempts: 0,
      next_attempt_at: null,
      created_at: expect.any(String),
      delivered_at: expect.any(String),
      body: request?.body,
      log: [
        {
          ...attempt,
          response_status: 500,
          response_body: 'noted',
          request_headers: { 'x-service-signature': signature },
        },
        { ...attempt, response_status: 204 },
      ],
    },
  ]);
  expect(table.stdout).toMatch(/^DELIVERY .*\ndlv_\d+ .* refund\.failed +delivered +2 +- +204\n$/);
  await receiver.close();
});

it('seals and opens nothing with another key than the one in use, until that is said to be lost', async () => {
  const { database, projectId } = await testApp();
  const withKey = (key: string) => program({ DATABASE_URL: database.url, SECRET_KEY: key.repeat(32) });
  const [cointill, stranger] = [await withKey('a'), await withKey('b')];
  const url = 'http://127.0.0.1:9/hooks';
  const id = textAt(await cointill.json(...creation(projectId, 'test', url, 'all')), 'id');
  for (const command of [
    creation(projectId, 'test', url, 'all'),
    ['webhook', 'rotate', id],
    ['webhook', 'retry', 'dlv_1'],
    ['start'],
  ]) {
    const { code, stdout, stderr } = await stranger.run(...command);
    expect([command[1], code, stdout]).toEqual([command[1], 1, '']);
    expect(stderr).toMatch(/encrypted with another key\. Use the SECRET_KEY .* --lost-key/);
  }
  const service = await testService({ DATABASE_URL: database.url, SECRET_KEY: 'a'.repeat(32), ROLE: 'api' });
  const { stop } = await service.start();
  for (const command of [
    ['webhook', 'rotate', id, '--lost-key'],
    ['recover', 'key'],
  ])
    expect(await stranger.run(...command)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The key of this database is not lost: cointill api.* runs and has it\./),
    });
  await stop();
  expect(await stranger.json('webhook', 'rotate', id, '--lost-key')).toMatchObject({ previous_secret_until: null });
  expect((await stranger.run('webhook', 'rotate', id)).code).toBe(0);
  expect((await cointill.run('webhook', 'rotate', id)).code).toBe(1);
});

it('refuses what it cannot do in plain words', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const unknown = 'we_00000000000000000000000000';
  const outcomes = await Promise.all([
    cointill.run(...creation(projectId, 'live', 'http://127.0.0.1/', 'all')),
    cointill.run(...creation(projectId, 'test', 'shop.example', 'all')),
    cointill.run(...creation(projectId, 'test', 'https://shop.example/', 'order.paid')),
    cointill.run('webhook', 'test', unknown, '--type', 'order.paid'),
    cointill.run('webhook', 'rotate', unknown),
    cointill.run('webhook', 'deliveries', 'shop'),
    cointill.run('webhook', 'retry', 'dlv_1'),
    cointill.run('webhook', 'retry', 'dlv_9999999999999999999999'),
  ]);
  const ends = [
    [1, /^--url: .*https/],
    [2, /^--url: .*absolute URL/],
    [2, /^--events: "order\.paid" is not an event\. Use "all" for all events, or choose from: /],
    [2, /^--type must be one of order\.created, /],
    [1, /^There is no such webhook endpoint\./],
    [2, /^The id of a webhook endpoint is we_/],
    [1, /^There is no such delivery\./],
    [2, /^The id of a delivery is dlv_ followed by a number\./],
  ] as const;
  expect(outcomes).toEqual(
    ends.map(([code, message]) => ({ code, stdout: '', stderr: expect.stringMatching(message) })),
  );
});
