import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { forActor } from '../context.ts';
import { enqueueMails } from '../enqueue-mail.ts';
import { linkState } from '../people/links.ts';
import { deactivatePerson, invitePerson, setRole } from '../people/people.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import { changeChoices, unsubscribe, unsubscribeState } from './choices.ts';
import { mailApp, SITE, type MailApp, type MailRow } from './mails.fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TREASURY = '0x5B38Da6a701c568545dCfcB03FcB875f56beddC4';
const OTHER_TREASURY = '0xAb8483F64d9C6d1EcF9b849Ae677dD3315835cb2';
const CHAINS = { bitcoin: 'regtest', litecoin: 'regtest' } as const;

async function setTreasury({ app }: MailApp, address: string) {
  const by = forActor(app, { kind: 'person', id: null, name: 'ben@shop.example', ip: '203.0.113.7' });
  const request = {
    projectId: app.projectId,
    network: 'ethereum',
    source: { kind: 'treasury', text: address },
    confirmations: null,
    toleranceBasisPoints: null,
  } as const;
  const outcome = await setProjectWallet(by, request, CHAINS);
  if (outcome.kind !== 'done') throw new Error(outcome.code);
}

const outcomesOf = (rows: readonly MailRow[]) => rows.map(({ outcome }) => outcome ?? '').toSorted();
const recipients = ({ smtp }: MailApp) => smtp.taken.flatMap(({ to }) => to).toSorted();
const tokenIn = (raw = '', page: string): string =>
  new RegExp(`${page}/([\\w-]{43})`).exec(raw.replaceAll(/=\r?\n/g, ''))?.[1] ?? '';
const invite = (mails: MailApp, email = 'eve@shop.example') =>
  invitePerson(mails.app, SITE, { email, role: 'support', projectId: null });

it('an invitation has a link that opens the account, and none is ever in the database', async () => {
  const mails = await mailApp();
  await invite(mails);
  expect(JSON.stringify(await mails.rows())).not.toMatch(/setup|token/);
  await mails.mailer.sendDue();
  const [mail] = mails.smtp.taken;
  expect(mail?.to).toEqual(['eve@shop.example']);
  const token = tokenIn(mail?.raw, 'setup');
  expect(await linkState(mails.app, token)).toMatchObject({ kind: 'open', email: 'eve@shop.example' });
  expect(await mails.rows()).toMatchObject([{ outcome: 'sent', content: {}, attempts: 1 }]);
});

it('an invitation that another one replaced, or that was taken back, is not sent', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  await invite(mails);
  mails.app.clock.advance(1_000);
  await invite(mails);
  await mails.mailer.sendDue();
  expect(recipients(mails)).toEqual(['eve@shop.example']);

  await invite(mails, 'gus@shop.example');
  expect((await deactivatePerson(mails.app, { email: 'gus@shop.example' })).kind).toBe('done');
  await mails.mailer.sendDue();
  expect(recipients(mails)).toEqual(['eve@shop.example']);
  expect(outcomesOf(await mails.rows())).toEqual(['dropped', 'dropped', 'sent']);
});

it('a change of where money goes is mailed to every owner, in the same transaction, and to nobody else', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  await mails.join('ben@shop.example', 'owner', mails.app.projectId);
  await mails.join('cat@shop.example', 'admin');
  const dan = await mails.join('dan@shop.example', 'owner');
  await changeChoices(mails.app, dan, { walletChanged: false });
  await setTreasury(mails, TREASURY);
  await setTreasury(mails, TREASURY);
  await mails.mailer.sendDue();
  expect(recipients(mails)).toEqual(['ann@shop.example', 'ben@shop.example']);
  await setTreasury(mails, OTHER_TREASURY);
  await mails.mailer.sendDue();
  expect(mails.smtp.taken).toHaveLength(4);
  const text = (mails.smtp.taken.at(-1)?.raw ?? '').replaceAll(/=\r?\n/g, '');
  for (const shown of [TREASURY, OTHER_TREASURY, 'ben@shop.example', '203.0.113.7']) expect(text).toContain(shown);
});

it('without a mail server nothing is saved', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  const silent = { ...mails, app: { ...mails.app, sendsMail: false } };
  await invite(silent);
  await setTreasury(silent, TREASURY);
  expect(await mails.rows()).toEqual([]);
});

it('mails to one person are sent one after another, in the order of the changes they report', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  for (const address of [TREASURY, OTHER_TREASURY, TREASURY, OTHER_TREASURY]) {
    await setTreasury(mails, address);
    mails.app.clock.advance(200);
  }
  // Rows that were changed are read after the others.
  await sql`update mails set problem = null where id = (select id from mails order by id limit 1)`.execute(
    mails.app.db,
  );
  const { rows } = await sql<{ id: string }>`select id from mails order by created_at`.execute(mails.app.db);
  const steps: string[] = [];
  const mailer = mails.newMailer({
    ...mails.sender,
    send: async (mail) => {
      const id = /^<([^@]+)@/.exec(mail.messageId)?.[1] ?? '';
      steps.push(`begins ${id}`);
      const outcome = await mails.sender.send(mail);
      steps.push(`ends ${id}`);
      return outcome;
    },
  });
  await mailer.sendDue();
  expect(steps).toEqual(rows.flatMap(({ id }) => [`begins ${id}`, `ends ${id}`]));
});

/** A changed wallet is about to be mailed to two owners, of whom ben is none any more. */
async function withFormerOwner(): Promise<MailApp> {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  await mails.join('ben@shop.example', 'owner');
  await setTreasury(mails, TREASURY);
  await setRole(mails.app, { email: 'ben@shop.example' }, { role: 'viewer', projectId: null });
  return mails;
}

it('who lost the role meanwhile is sent nothing', async () => {
  const mails = await withFormerOwner();
  await mails.mailer.sendDue();
  expect(recipients(mails)).toEqual(['ann@shop.example']);
});

it('two processes send each mail once', async () => {
  const mails = await mailApp();
  for (let index = 0; index < 12; index += 1) await mails.join(`owner-${index}@shop.example`, 'owner');
  await setTreasury(mails, TREASURY);
  const [one, other] = [mails.newMailer(), mails.newMailer()];
  await Promise.all([one.sendDue(), other.sendDue()]);
  await Promise.all([one.sendDue(), other.sendDue()]);
  expect(recipients(mails)).toHaveLength(12);
  expect(new Set(recipients(mails)).size).toBe(12);
});

it('a mail whose process ended before it was recorded is sent again, with the same Message-ID', async () => {
  const mails = await mailApp();
  await invite(mails);
  const killed = mails.newMailer({
    ...mails.sender,
    send: async (mail) => {
      await mails.sender.send(mail);
      throw new Error('killed');
    },
  });
  await expect(killed.sendDue()).rejects.toThrow('killed');
  const { mailer } = mails;
  await mailer.sendDue();
  expect(mails.smtp.taken).toHaveLength(1);
  mails.app.clock.advance(11 * MINUTE_MS);
  await mailer.sendDue();
  const ids = mails.smtp.taken.map(({ headers }) => headers.get('message-id'));
  expect(ids).toEqual([ids[0], ids[0]]);
  // Whichever of the two is shown, its link is good.
  for (const { raw } of mails.smtp.taken)
    expect(await linkState(mails.app, tokenIn(raw, 'setup'))).toMatchObject({ kind: 'open' });
});

it('a mail that is deferred is tried again with growing rests, and given up in the end', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  mails.smtp.answer = () => 451;
  await setTreasury(mails, TREASURY);
  await mails.mailer.sendDue();
  await mails.mailer.sendDue();
  expect(await mails.rows()).toMatchObject([{ attempts: 1, outcome: null }]);
  for (let hour = 0; hour < 73; hour += 1) {
    mails.app.clock.advance(HOUR_MS);
    await mails.mailer.sendDue();
  }
  const [row] = await mails.rows();
  expect(row).toMatchObject({ outcome: 'given_up', content: {} });
  expect(row?.attempts).toBeLessThan(30);
  expect(mails.noted).toMatchObject([{ subject: 'mail', kind: 'wallet_changed' }]);
});

it('an address that the server refuses is given up at once, and holds up nobody else', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  await mails.join('ben@shop.example', 'owner');
  mails.smtp.answer = ({ to }) => (to.includes('ann@shop.example') ? 550 : 0);
  await setTreasury(mails, TREASURY);
  await mails.mailer.sendDue();
  expect(recipients(mails)).toEqual(['ben@shop.example']);
  expect(outcomesOf(await mails.rows())).toEqual(['refused', 'sent']);
  expect(mails.mailer.problem()).toBeNull();
});

it('a server that is away is a problem until it is back, and loses nothing', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  let isAway = true;
  const away = { kind: 'failed', problem: 'The mail server does not answer.', isOfSender: false } as const;
  const mailer = mails.newMailer({
    send: (mail) => (isAway ? Promise.resolve(away) : mails.sender.send(mail)),
    check: () => (isAway ? Promise.resolve(away.problem) : mails.sender.check()),
  });
  await mailer.sendDue();
  expect(mailer.problem()).toBe(away.problem);
  await setTreasury(mails, TREASURY);
  mails.app.clock.advance(MINUTE_MS);
  await mailer.sendDue();
  expect(mails.noted.map(({ subject }) => subject)).toEqual(['mail server', 'mail server']);
  isAway = false;
  mails.app.clock.advance(10 * MINUTE_MS);
  await mailer.sendDue();
  expect(mailer.problem()).toBeNull();
  expect(recipients(mails)).toEqual(['ann@shop.example']);
});

it('mails wait for a right MAIL_FROM, and what is wrong with it is said until one is taken', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  await setTreasury(mails, TREASURY);
  const problem = 'The mail server takes no mail from the address of MAIL_FROM.';
  const refusing = mails.newMailer({
    ...mails.sender,
    send: () => Promise.resolve({ kind: 'failed', problem, isOfSender: true }),
  });
  for (let round = 0; round < 3; round += 1) {
    await refusing.sendDue();
    mails.app.clock.advance(31_000);
  }
  expect(refusing.problem()).toBe(problem);
  await mails.mailer.sendDue();
  mails.app.clock.advance(10 * MINUTE_MS);
  await mails.mailer.sendDue();
  expect(recipients(mails)).toEqual(['ann@shop.example']);
});

it('a mail that nobody wants any more says nothing of a server that is away', async () => {
  const mails = await withFormerOwner();
  const away = { kind: 'failed', problem: 'The mail server does not answer.', isOfSender: false } as const;
  let attempts = 0;
  const mailer = mails.newMailer({
    send: () => Promise.resolve(away),
    check: () => {
      attempts += 1;
      return Promise.resolve(away.problem);
    },
  });
  await mailer.sendDue();
  await mailer.sendDue();
  expect(mailer.problem()).toBe(away.problem);
  // It rests before it asks again.
  expect(attempts).toBe(0);
});

it('a mail that cannot be written, such as one of a later version, is given up in the end and holds up no other', async () => {
  const mails = await mailApp();
  await mails.join('ann@shop.example', 'owner');
  await setTreasury(mails, TREASURY);
  mails.app.clock.advance(1_000);
  await setTreasury(mails, OTHER_TREASURY);
  await sql`update mails set content = '{"kind":"moon_phase"}'
    where id = (select id from mails order by created_at limit 1)`.execute(mails.app.db);
  await mails.mailer.sendDue();
  expect(recipients(mails)).toEqual(['ann@shop.example']);
  for (let day = 0; day < 4; day += 1) {
    mails.app.clock.advance(24 * HOUR_MS);
    await mails.mailer.sendDue();
  }
  expect(outcomesOf(await mails.rows())).toEqual(['given_up', 'sent']);
  expect(mails.noted).toMatchObject([{ subject: 'mail' }]);
});

it('the link of a mail switches its kind off once, without signing in, and nothing else', async () => {
  const mails = await mailApp();
  const ann = await mails.join('ann@shop.example', 'owner');
  const fail = async (mailKey: string): Promise<void> => {
    const project = { id: mails.app.projectId, name: 'Tea' };
    const url = 'https://shop.example/webhooks';
    const content = { kind: 'endpoint', state: 'failing', project, url, detail: null, at: 0 } as const;
    await mails.app.db.transaction().execute((trx) => enqueueMails(mails.app, trx, [ann], { mailKey, content }));
    await mails.mailer.sendDue();
  };
  await fail('one');
  const token = tokenIn(mails.smtp.taken[0]?.raw, 'unsubscribe');
  expect(await unsubscribeState(mails.app, token)).toEqual({ kind: 'open', notification: 'endpoints', project: null });
  expect(await unsubscribe(mails.app, token, '203.0.113.9')).toMatchObject({ kind: 'used' });
  await fail('two');
  expect(mails.smtp.taken).toHaveLength(1);
  await setTreasury(mails, TREASURY);
  await mails.mailer.sendDue();
  expect(mails.smtp.taken).toHaveLength(2);
  // Anybody who holds that mail could silence the alarm before taking the money.
  expect(mails.smtp.taken[1]?.raw).not.toMatch(/unsubscribe/i);

  // Switched on again, the old link does nothing.
  await changeChoices(mails.app, ann, { endpoints: true });
  expect(await unsubscribe(mails.app, token, '203.0.113.9')).toMatchObject({ kind: 'used' });
  await fail('three');
  expect(mails.smtp.taken).toHaveLength(3);
  for (const wrong of ['', 'x', `${token.slice(1)}A`])
    expect(await unsubscribe(mails.app, wrong, '')).toEqual({ kind: 'unknown' });
});

it('mails are in the language of their person, an invitation in that of whoever invites', async () => {
  const mails = await mailApp();
  const ann = await mails.join('ann@shop.example', 'owner');
  await changeChoices(mails.app, ann, { language: 'de' });
  const asAnn = forActor(mails.app, { kind: 'person', id: ann, name: 'ann@shop.example', ip: null });
  await invitePerson(asAnn, SITE, { email: 'eve@shop.example', role: 'viewer', projectId: null });
  await setTreasury(mails, TREASURY);
  await mails.mailer.sendDue();
  const subjects = mails.smtp.taken.map(({ headers }) => headers.get('subject') ?? '').toSorted();
  expect(subjects[0]).toMatch(/Wallet.*ge=C3=A4ndert/);
  expect(subjects[1]).toContain('Ihre Einladung');
});
