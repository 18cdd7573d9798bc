import { expect, it } from 'vitest';
import { NoAnswerError } from '../store/client.ts';
import { asRequestError } from './errors.ts';

const withCode = (code: string): Error => Object.assign(new Error('fault'), { code });

it.each([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  '08006',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  '25006',
  '25P03',
  '3F000',
  '26000',
  '42P05',
  '40001',
  '40P01',
])('%s, a fault of the way to the database or of its state, asks the client to try again', (code) => {
  expect(asRequestError(withCode(code))).toMatchObject({ type: 'service_unavailable', status: 503 });
});

it.each([
  'Connection terminated unexpectedly',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
])('"%s", which pg says of a lost connection, asks the client to try again', (message) => {
  expect(asRequestError(new Error(message))).toMatchObject({ type: 'service_unavailable', status: 503 });
});

it('no address of several that answers, and no answer at all, ask the client to try again', () => {
  const several = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]);
  for (const error of [Object.assign(several, { code: 'ECONNREFUSED' }), new NoAnswerError(30_000)]) {
    expect(asRequestError(error)).toMatchObject({ type: 'service_unavailable', status: 503 });
  }
});

it.each(['EACCES', '23505', '42P01', ''])('%s, a fault of the service, is told as one', (code) => {
  expect(asRequestError(withCode(code))).toMatchObject({ type: 'api_error', status: 500 });
});

it('people on a German page read in German that the server failed, and programs read English', () => {
  const fault = asRequestError(new Error('A bug.'));
  expect(fault.messageIn('de')).toMatch(/^Auf dem Server ist etwas schiefgegangen\./);
  expect(fault.messageIn(null)).toMatch(/^Something went wrong on our side\./);
  expect(asRequestError(withCode('ECONNREFUSED')).messageIn('de')).toBe(
    'Der Dienst kann die Anfrage gerade nicht bearbeiten. Versuchen Sie es gleich noch einmal.',
  );
});
