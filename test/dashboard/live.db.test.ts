import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { createProject } from '../../src/app/projects/projects.ts';
import { setRole } from '../../src/app/people/people.ts';
import { cancelPayment, completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { dashboardRoutes } from '../../src/http/dashboard/routes.ts';
import { publicPaymentId } from '../../src/wire/payment.ts';
import { dashboardTest, type Browser, type Member } from '../dashboard.ts';
import { WAIT } from '../deadline.ts';

const PER_PERSON = 3;
const test = await dashboardTest({ live: { limits: { perClient: PER_PERSON }, heartbeatMs: 50 } });
const { app } = test.http;
const server = test.http.build({
  side: 'live',
  dashboard: { app, allowed: null, origin: test.people.site.origin, behindProxy: false },
  plugins: [dashboardRoutes(test.dashboard, null)],
});
await server.listen({ port: 0, host: '127.0.0.1' });
const { port } = server.server.address() as AddressInfo;
afterAll(async () => {
  // As the service itself does when it stops: kept alive, refused requests would keep it.
  server.server.closeAllConnections();
  await test.http.close();
});

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
  { projectId = app.projectId, mode = 'test', headers = {} } = {},
): Promise<Stream> {
  const leaving = new AbortController();
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(`http://127.0.0.1:${port}/dashboard/api/projects/${projectId}/${mode}/events`, {
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

/** Waits until the stream has told at least this. */
async function hears(stream: Stream, ...messages: readonly unknown[]): Promise<void> {
  await vi.waitFor(() => expect(stream.messages).toEqual(expect.arrayContaining([...messages])), WAIT);
}

const join = (): Promise<Member> => test.join('viewer', app.projectId);

describe('a tab', () => {
  it('hears at first what runs, then which payments were created and changed, of its project and mode alone', async () => {
    const { browser } = await join();
    const other = await createProject(app, 'Other');
    if (other.kind !== 'done') throw new Error(other.message);
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
    const fresh = await app.pay({ surface: 'transaction', token: null });
    const told = [
      { kind: 'payment', id: publicPaymentId(old) },
      { kind: 'payment_created', id: fresh.id },
    ];
    await hears(stream, ...told);
    await cancelPayment(app, { id: fresh.id });
    await hears(stream, { kind: 'payment', id: fresh.id });
    const kinds = stream.messages.filter((message) => JSON.stringify(message).includes('"payment'));
    expect(kinds).toHaveLength(3);
  });

  it('that comes back is told that anything may have changed', async () => {
    const { browser } = await join();
    const stream = await listenTo(browser, { headers: { 'last-event-id': 'seen' } });
    await hears(stream, { kind: 'anything' });
    expect(stream.messages).toHaveLength(2);
  });

  it('hears that much changed instead of each of very many payments', async () => {
    const { browser } = await join();
    app.clock.advance(60_000);
    const stream = await listenTo(browser);
    await Promise.all(Array.from({ length: 120 }, () => app.pay()));
    await hears(stream, { kind: 'anything' });
    expect(stream.messages.length).toBeLessThan(120);
  });

  it('beyond what one person may have open is refused, and others are not', async () => {
    const [one, other] = [await join(), await join()];
    for (let n = 0; n < PER_PERSON; n += 1) expect((await listenTo(one.browser)).status).toBe(200);
    const refused = await listenTo(one.browser);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect((await listenTo(other.browser)).status).toBe(200);
  });
});

describe('a stream ends with the message that the session is another', () => {
  /** The last message, once the stream has ended. */
  const lastOf = async (stream: Stream): Promise<unknown> => {
    await vi.waitFor(() => expect(stream.isEnded()).toBe(true), WAIT);
    return stream.messages.at(-1);
  };

  it('when its browser signs out', async () => {
    const { browser } = await join();
    const [stream, other] = [await listenTo(browser), await listenTo((await join()).browser)];
    await browser.do('POST /dashboard/api/sign-out');
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
    expect(other.isEnded()).toBe(false);
  });

  it('when all sessions are ended from elsewhere', async () => {
    const member = await join();
    const stream = await listenTo(member.browser);
    const elsewhere = await test.signIn(member.email);
    await elsewhere.do('POST /dashboard/api/account/sessions/end-all');
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
  });

  it('when the role changes or is taken away', async () => {
    for (const role of ['support', null] as const) {
      const member = await join();
      const stream = await listenTo(member.browser);
      const done = await setRole(app, { id: member.id }, { role, projectId: app.projectId });
      expect(done.kind).toBe('done');
      expect(await lastOf(stream)).toEqual({ kind: 'session' });
    }
  });

  it('when it was not used for its idle time, though the tab stayed open; a look is no use', async () => {
    const member = await join();
    const stream = await listenTo(member.browser);
    await hears(stream, { kind: 'version', version: 'test' });
    app.clock.advance(11 * 60 * 60_000);
    const payment = await app.pay();
    await hears(stream, { kind: 'payment_created', id: publicPaymentId(payment) });
    app.clock.advance(2 * 60 * 60_000);
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
  });

  it('before anything of a payment is told after that', async () => {
    const member = await join();
    const stream = await listenTo(member.browser);
    const payment = await app.pay();
    await hears(stream, { kind: 'payment_created', id: publicPaymentId(payment) });
    // As another process does whose notification did not arrive.
    await app.db.deleteFrom('sessions').where('person_id', '=', member.id).execute();
    await cancelPayment(app, { id: payment.id });
    expect(await lastOf(stream)).toEqual({ kind: 'session' });
    expect(stream.messages).not.toContainEqual({ kind: 'payment', id: publicPaymentId(payment) });
  });
});
