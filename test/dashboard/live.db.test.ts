import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { createProject } from '../../src/app/projects/projects.ts';
import { requireFactors } from '../../src/app/people/required-factors.ts';
import { setRole } from '../../src/app/people/people.ts';
import { cancelPayment, completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { dashboardRoutes } from '../../src/http/dashboard/routes.ts';
import { paymentIdOf, publicPaymentId } from '../../src/domain/payment-kind.ts';
import { dashboardTest, PASSWORD, type Browser, type Member } from '../dashboard.ts';
import { WAIT } from '../deadline.ts';

const PER_PERSON = 3;
const test = await dashboardTest({ live: { limits: { perClient: PER_PERSON } } });
const { app } = test.http;
const servers: FastifyInstance[] = [];
const port = await serve(50);
/** Where only a notification or a change can end a stream. */
const portWithoutHeartbeats = await serve(3_600_000);
afterAll(async () => {
  // The service does this too when it stops: connections of refused requests are kept alive.
  for (const server of servers) server.server.closeAllConnections();
  await test.http.close();
});

async function serve(heartbeatMs: number): Promise<number> {
  const server = test.http.build({
    side: 'live',
    dashboard: { app, allowed: null, origin: test.people.site.origin, behindProxy: false, seenSessions: new Set() },
    plugins: [dashboardRoutes({ ...test.dashboard, live: { ...test.dashboard.live, heartbeatMs } }, null)],
  });
  servers.push(server);
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

const open: Stream[] = [];
afterEach(async () => {
  for (const stream of open.splice(0)) stream.leave();
  await vi.waitUntil(() => test.dashboard.live.watch.watchers() === 0, WAIT);
});

interface Stream {
  readonly status: number;
  readonly headers: Headers;
  /** Data of the messages so far. */
  readonly messages: readonly unknown[];
  readonly isEnded: () => boolean;
  leave(): void;
}

async function listenTo(
  browser: Browser,
  { projectId = app.projectId, mode = 'test', headers = {}, at = port, of = 'events' } = {},
): Promise<Stream> {
  const leaving = new AbortController();
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(`http://127.0.0.1:${at}/dashboard/api/projects/${projectId}/${mode}/${of}`, {
    headers: { cookie, ...headers },
    signal: leaving.signal,
  });
  const messages: unknown[] = [];
  let isEnded = false;
  const read = async (): Promise<void> => {
    let text = '';
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (text + part).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) messages.push(JSON.parse(data));
      }
    }
  };
  if (answer.status === 200)
    void read().then(
      () => (isEnded = true),
      () => (isEnded = true),
    );
  const stream = {
    status: answer.status,
    headers: answer.headers,
    messages,
    isEnded: () => isEnded,
    leave: () => leaving.abort(),
  };
  open.push(stream);
  return stream;
}

/** Waits until the stream has received at least these messages. */
async function hears(stream: Stream, ...messages: readonly unknown[]): Promise<void> {
  await vi.waitFor(() => expect(stream.messages).toEqual(expect.arrayContaining([...messages])), WAIT);
}

const join = (): Promise<Member> => test.join('viewer', app.projectId);

it('the stream of the till names the sales of its own person alone, and no other stream opens for a cashier', async () => {
  const [ann, ben] = [await test.join('cashier', app.projectId), await test.join('cashier', app.projectId)];
  const path = `/dashboard/api/projects/${app.projectId}/test/till/sales`;
  const charge = async ({ browser }: Member, request: string): Promise<string> => {
    const body = { request, amount: '5', currency: 'EUR' };
    return (await browser.call<{ readonly id: string }>({ method: 'POST', path, body })).body.id;
  };
  const stream = await listenTo(ann.browser, { of: 'till/events' });
  await hears(stream, { kind: 'version', version: 'test' });
  const [others, own] = [await charge(ben, 'a-sale-of-ben'), await charge(ann, 'a-sale-of-ann')];
  for (const text of [others, own]) {
    const id = paymentIdOf('invoice', text) ?? '';
    await completeSandboxPayment(app, { id, api: 'invoice', projectId: app.projectId, mode: 'test' });
  }
  await hears(stream, { kind: 'payment_created', id: own }, { kind: 'payment', id: own });
  expect(JSON.stringify(stream.messages)).not.toContain(others);
  expect((await listenTo(ann.browser)).status).toBe(403);
});

describe('the stream of a tab', () => {
  it('begins with the version, then names the created and changed payments of its project and mode only', async () => {
    const { browser } = await join();
    const other = await createProject(app, 'Other');
    if (other.kind !== 'done') throw new Error(other.code);
    const old = await app.pay();
    app.clock.advance(60_000);
    const stream = await listenTo(browser);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.headers.get('x-ratelimit-limit')).not.toBeNull();
    await hears(stream, { kind: 'version', version: 'test' });
    const foreign = await app.pay({ projectId: other.project.id });
    const live = await app.pay({ mode: 'live' });
    await cancelPayment(app, { id: foreign.id });
    await cancelPayment(app, { id: live.id });
    await completeSandboxPayment(app, { id: old.id });
    const fresh = await app.pay({ api: 'transaction', token: null });
    const expected = [
      { kind: 'payment', id: publicPaymentId(old) },
      { kind: 'payment_created', id: fresh.id },
    ];
    await hears(stream, ...expected);
    await cancelPayment(app, { id: fresh.id });
    await hears(stream, { kind: 'payment', id: fresh.id });
    const kinds = stream.messages.filter((message) => JSON.stringify(message).includes('"payment'));
    expect(kinds).toHaveLength(3);
  });

  it('says that anything may have changed when the tab reconnects', async () => {
    const { browser } = await join();
    const stream = await listenTo(browser, { headers: { 'last-event-id': 'seen' } });
    await hears(stream, { kind: 'anything' });
    expect(stream.messages).toHaveLength(2);
  });

  it('says that anything may have changed instead of listing very many payments', async () => {
    const { browser } = await join();
    app.clock.advance(60_000);
    const stream = await listenTo(browser);
    await Promise.all(Array.from({ length: 120 }, () => app.pay()));
    await hears(stream, { kind: 'anything' });
    expect(stream.messages.length).toBeLessThan(120);
  });

  it('is refused beyond the limit of one person, without affecting other people', async () => {
    const [one, other] = [await join(), await join()];
    for (let n = 0; n < PER_PERSON; n += 1) expect((await listenTo(one.browser)).status).toBe(200);
    const refused = await listenTo(one.browser);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect((await listenTo(other.browser)).status).toBe(200);
  });
});

describe('a stream ends with the message "session"', () => {
  /** The last message, once the stream has ended. */
  const lastOf = async (stream: Stream): Promise<unknown> => {
    await vi.waitFor(() => expect(stream.isEnded()).toBe(true), WAIT);
    return stream.messages.at(-1);
  };

  /** A stream that has passed its first check. */
  const started = async (browser: Browser): Promise<Stream> => {
    // Earlier tests' payments are not new any more.
    app.clock.advance(60_000);
    const stream = await listenTo(browser, { at: portWithoutHeartbeats });
    const payment = await app.pay();
    await hears(stream, { kind: 'payment_created', id: publicPaymentId(payment) });
    return stream;
  };

  it('when its browser signs out', async () => {
    const { browser } = await join();
    const [stream, other] = [await started(browser), await started((await join()).browser)];
    await browser.do('POST /dashboard/api/sign-out');
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
    expect(other.isEnded()).toBe(false);
  });

  it('when its browser signs in again, as somebody else too', async () => {
    for (const next of [null, await join()]) {
      const member = await join();
      const stream = await started(member.browser);
      const { email } = next ?? member;
      await member.browser.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
      expect(await lastOf(stream)).toEqual({ kind: 'session' });
    }
  });

  it('when all sessions are ended from elsewhere', async () => {
    const member = await join();
    const stream = await started(member.browser);
    const elsewhere = await test.signIn(member.email);
    await elsewhere.do('POST /dashboard/api/account/sessions/end-all');
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
  });

  it('when the role changes or is taken away', async () => {
    for (const role of ['support', null] as const) {
      const member = await join();
      const stream = await started(member.browser);
      const done = await setRole(app, { id: member.id }, { role, projectId: app.projectId });
      expect(done.kind).toBe('done');
      expect(await lastOf(stream)).toEqual({ kind: 'session' });
    }
  });

  it('when the role requires a second factor that the person lacks', async () => {
    const member = await test.join('viewer', app.projectId);
    const stream = await started(member.browser);
    expect(await requireFactors(app, ['viewer'])).toMatchObject({ kind: 'done' });
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
    expect((await listenTo(member.browser)).status).toBe(403);
    await requireFactors(app, []);
  });

  it('when the session expires unused: an open tab and its checks do not count as use', async () => {
    const member = await join();
    const stream = await listenTo(member.browser);
    await hears(stream, { kind: 'version', version: 'test' });
    app.clock.advance(11 * 60 * 60_000);
    const payment = await app.pay();
    await hears(stream, { kind: 'payment_created', id: publicPaymentId(payment) });
    app.clock.advance(2 * 60 * 60_000);
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
  });

  it('instead of a change that comes after the end of the session, even without its notification', async () => {
    const member = await join();
    const stream = await listenTo(member.browser);
    const payment = await app.pay();
    await hears(stream, { kind: 'payment_created', id: publicPaymentId(payment) });
    // Another process's change whose notification got lost.
    await app.db.deleteFrom('sessions').where('person_id', '=', member.id).execute();
    await cancelPayment(app, { id: payment.id });
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
    expect(stream.messages).not.toContainEqual({ kind: 'payment', id: publicPaymentId(payment) });
  });
});
