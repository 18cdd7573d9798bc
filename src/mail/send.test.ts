import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { selfSigned } from '../webhooks/local-receivers.fixture.ts';
import { createMailSender, type Mail, type SmtpServer } from './send.ts';
import { localSmtp, PASSWORD, USER } from './smtp-server.fixture.ts';

const FROM = { name: 'Cointill', address: 'payments@shop.example' };
const MAIL: Mail = {
  messageId: '<0190@shop.example>',
  to: 'ann@shop.example',
  subject: 'Wallet changed',
  text: 'As text.\n',
  html: '<p>As HTML.</p>',
  unsubscribeUrl: 'https://pay.shop.example/dashboard/unsubscribe/token',
};
const LOGIN = { user: USER, password: PASSWORD };

function send(server: SmtpServer, mail: Partial<Mail> = {}, answerMs?: number) {
  return createMailSender({ server, from: FROM, ...(answerMs === undefined ? {} : { answerMs }) }).send({
    ...MAIL,
    ...mail,
  });
}

it('a mail has its own id, both forms, and the headers of mail that programs send', async () => {
  const smtp = await localSmtp();
  expect(await send(smtp.server)).toEqual({ kind: 'sent' });
  const [taken] = smtp.taken;
  expect(taken).toMatchObject({ from: FROM.address, to: [MAIL.to] });
  expect(Object.fromEntries(taken?.headers ?? [])).toMatchObject({
    'message-id': MAIL.messageId,
    from: 'Cointill <payments@shop.example>',
    to: 'ann@shop.example',
    subject: 'Wallet changed',
    'auto-submitted': 'auto-generated',
    'list-unsubscribe': `<${MAIL.unsubscribeUrl}>`,
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
  });
  expect(taken?.raw).toContain('As text.');
  expect(taken?.raw).toContain('<p>As HTML.</p>');
});

it('no text becomes a header or another recipient', async () => {
  const smtp = await localSmtp();
  const evil = 'Shop\r\nBcc: mallory@evil.example\r\n\r\nBody';
  expect(await send(smtp.server, { subject: evil, unsubscribeUrl: null })).toEqual({ kind: 'sent' });
  expect(await send(smtp.server, { to: 'ann@shop.example, mallory@evil.example' })).not.toEqual({ kind: 'sent' });
  expect(smtp.taken).toHaveLength(1);
  const [taken] = smtp.taken;
  expect(taken?.to).toEqual([MAIL.to]);
  expect([...(taken?.headers.keys() ?? [])]).not.toContain('bcc');
});

it('the password crosses the network behind STARTTLS alone, to a server with a trusted certificate', async () => {
  const pair = selfSigned('localhost');
  const smtp = await localSmtp({ ...pair, disabledCommands: [], authOptional: false });
  const server: SmtpServer = { ...smtp.server, host: 'localhost', tls: 'required', login: LOGIN };
  const refused = await send(server);
  expect(refused).toMatchObject({ kind: 'failed' });
  expect(refused).toHaveProperty('problem', expect.stringMatching(/an authority that is not.*NODE_EXTRA_CA_CERTS/));
  expect(smtp.taken).toEqual([]);

  trust(pair.cert);
  expect(await send(server)).toEqual({ kind: 'sent' });
  expect(smtp.taken).toMatchObject([{ isEncrypted: true, user: USER }]);
});

it('where STARTTLS is required and not offered, nothing is sent, the password least of all', async () => {
  const smtp = await localSmtp({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
  const outcome = await send({ ...smtp.server, tls: 'required', login: LOGIN });
  expect(outcome).toMatchObject({ kind: 'failed', problem: expect.stringContaining('does not offer TLS') as unknown });
  expect(smtp.taken).toEqual([]);
});

it('smtps:// is encrypted from the first byte', async () => {
  const pair = selfSigned('localhost');
  trust(pair.cert);
  const smtp = await localSmtp({ ...pair, secure: true, disabledCommands: ['STARTTLS'] });
  const server: SmtpServer = { ...smtp.server, host: 'localhost', tls: 'implicit', login: LOGIN };
  expect(await send(server)).toEqual({ kind: 'sent' });
  expect(smtp.taken).toMatchObject([{ isEncrypted: true, user: USER }]);
});

it('a wrong password is a problem of the settings, and never in its words', async () => {
  const repeats = new Error(`No: ${PASSWORD} ${Buffer.from(`\0${USER}\0${PASSWORD}x`).toString('base64')}`);
  const login = { user: USER, password: `${PASSWORD}x` };
  const smtp = await localSmtp({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_given, _session, done) => done(repeats),
  });
  const outcome = await send({ ...smtp.server, login });
  expect(outcome).toMatchObject({
    kind: 'failed',
    problem: expect.stringContaining('password in SMTP_URL') as unknown,
  });
  expect(JSON.stringify(outcome)).not.toContain(login.password);
  expect(JSON.stringify(outcome)).not.toContain(Buffer.from(`\0${USER}\0${login.password}`).toString('base64'));
});

it.each([
  [451, 'deferred'],
  [550, 'refused'],
] as const)('an answer of %s to a mail is %s', async (code, kind) => {
  const smtp = await localSmtp();
  smtp.answer = () => code;
  const outcome = await send(smtp.server);
  expect(outcome).toMatchObject({ kind, problem: expect.stringContaining('Not this one.') as unknown });
});

it('a server that takes nothing from MAIL_FROM fails, so that no mail is lost by a wrong setting', async () => {
  const refusal = Object.assign(new Error('Sender address rejected: not owned by user.'), { responseCode: 553 });
  const smtp = await localSmtp({ onMailFrom: (_address, _session, done) => done(refusal) });
  const outcome = await send(smtp.server);
  expect(outcome).toMatchObject({ kind: 'failed', isOfSender: true });
  expect(outcome).toHaveProperty('problem', expect.stringMatching(/from the address in MAIL_FROM.*not owned by user/));
});

it('a mail that is given up while a slow server answers is not sent afterwards', async () => {
  const slow = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void slow.close());
  await once(slow, 'listening');
  const { port } = slow.address() as AddressInfo;
  const connected = once(slow, 'connection') as Promise<[Socket]>;
  const outcome = send({ host: '127.0.0.1', port, tls: 'offered', login: null }, {}, 1_000);
  const [socket] = await connected;
  socket.on('error', () => {}).write('220 mail.shop.example\r\n');
  await once(socket, 'data');
  const timer = setInterval(() => socket.write('250-mail.shop.example\r\n'), 10);
  const next = new Promise((resolve) => {
    socket.once('close', () => resolve('closed')).once('data', (command: Buffer) => resolve(command.toString()));
  });
  expect(await outcome).toMatchObject({
    kind: 'failed',
    problem: expect.stringContaining('did not accept') as unknown,
  });
  clearInterval(timer);
  socket.write('250 mail.shop.example\r\n');
  expect(await next).toBe('closed');
});

it('a server that hangs is given up in time, at the greeting and after the mail', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const hanging: SmtpServer = { host: '127.0.0.1', port, tls: 'offered', login: null };
  expect(await send(hanging, {}, 50)).toMatchObject({ kind: 'failed' });

  const smtp = await localSmtp();
  smtp.answer = () => null;
  expect(await send(smtp.server, {}, 200)).toMatchObject({ kind: 'failed' });
});

it('a server that is not there is a problem in plain words', async () => {
  const outcome = await send({ host: '127.0.0.1', port: 1, tls: 'offered', login: null });
  expect(outcome).toMatchObject({ kind: 'failed', problem: expect.stringMatching(/127\.0\.0\.1:1/) as unknown });
});

/** Trusts an authority as NODE_EXTRA_CA_CERTS does. */
function trust(authority: string): void {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, authority]);
  onTestFinished(() => tls.setDefaultCACertificates(before));
}
