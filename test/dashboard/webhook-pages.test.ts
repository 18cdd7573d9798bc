import { describe, expect, it } from 'vitest';
import { withNewest } from '../../web/dashboard/pages/log/use-log.ts';
import { unreadOf } from '../../web/dashboard/search.ts';
import { hintOf } from '../../web/dashboard/pages/webhooks/hints.ts';
import { filtersOf, webhooksSearch } from '../../web/dashboard/pages/webhooks/search.ts';
import { requestsSearch } from '../../web/dashboard/pages/requests/search.ts';

const ATTEMPT = {
  at: '2026-01-31T12:00:00.000Z',
  manual: false,
  duration_ms: 5,
  request_headers: {},
  response_headers: null,
  response_body: null,
  response_truncated: false,
  error: null,
};

describe('what usually is wrong', () => {
  const DUE = { state: 'waiting', next_attempt_at: '2026-06-15T12:00:00Z', endpoint_state: 'on' } as const;
  const hint = (status: number | null, stage: string | null = null) =>
    hintOf({ ...DUE, attempts: [{ ...ATTEMPT, status, error_stage: stage }] });

  it.each([
    [401, 'hint_signature'],
    [403, 'hint_signature'],
    [400, 'hint_refused'],
    [404, 'hint_not_found'],
    [405, 'hint_method'],
    [410, 'hint_gone'],
    [429, 'hint_too_many'],
    [301, 'hint_redirect'],
    [308, 'hint_redirect'],
    [418, 'hint_refused'],
    [500, 'hint_server'],
    [599, 'hint_server'],
  ])('is said of the answer %d', (status, text) => expect(hint(status)?.text).toBe(text));

  it.each(['guard', 'resolve', 'connect', 'tls', 'timeout', 'response'])('is said of no answer: %s', (stage) => {
    expect(hint(null, stage)?.text).toBe(`hint_${stage}`);
  });

  it('is not said of what arrived, was acknowledged or not attempted yet', () => {
    const attempts = [{ ...ATTEMPT, status: 500, error_stage: null }];
    expect(hintOf({ ...DUE, state: 'delivered', attempts })).toBeNull();
    expect(hint(204)).toBeNull();
    expect(hintOf({ ...DUE, attempts: [] })).toBeNull();
  });

  it('is said of a message that an earlier one keeps waiting, and of one that a newer one overtook', () => {
    expect(hintOf({ ...DUE, next_attempt_at: null, attempts: [] })?.text).toBe('hint_held');
    expect(hintOf({ ...DUE, next_attempt_at: null, endpoint_state: 'paused', attempts: [] })).toBeNull();
    expect(hintOf({ ...DUE, state: 'overtaken', attempts: [] })?.text).toBe('hint_overtaken');
  });
});

describe('rows of a log that are shown', () => {
  const row = (id: string, state = 'old') => ({ id, state });

  it('change in their place, and what came before the first of them is counted', () => {
    const shown = [row('3'), row('2'), row('1')];
    expect(withNewest(shown, [row('5', 'new'), row('4', 'new'), row('3', 'new')])).toEqual({
      rows: [row('3', 'new'), row('2'), row('1')],
      arrived: 2,
    });
    expect(withNewest(shown, [])).toEqual({ rows: shown, arrived: 0 });
    expect(withNewest(shown, [row('9'), row('8')]).arrived).toBe(2);
    // Rows of further pages change in their place too; none of them is new.
    expect(withNewest(shown, [], [row('3', 'new'), row('1', 'new')])).toEqual({
      rows: [row('3', 'new'), row('2'), row('1', 'new')],
      arrived: 0,
    });
  });
});

describe('the address of a log', () => {
  it('keeps the filters that it knows and drops everything else', () => {
    const endpoint = `we_${'0'.repeat(26)}`;
    expect(webhooksSearch({ endpoint, type: 'order.created', state: 'failed', answer: 'none', period: '7d' })).toEqual({
      endpoint,
      type: 'order.created',
      state: 'failed',
      answer: 'none',
      period: '7d',
    });
    const wrong = { endpoint: 'x', type: '<b>', state: 'lost', answer: '99', period: '1y', show: '1', other: 'x' };
    expect(webhooksSearch(wrong)).toEqual({});
    expect(requestsSearch({ outcome: 'x', method: 'TRACE', status: '9', path: 'a b', key: 'x', show: 'x' })).toEqual(
      {},
    );
    expect(filtersOf({ answer: '404', show: 'dlv_1' })).toEqual({ status: '404' });
  });
});

it('of an address names the filters that cannot be read, and no others', () => {
  const given = { state: 'lost', answer: '999', type: 'order.created', colour: 'red', endpoint: '', period: undefined };
  expect(unreadOf(given, webhooksSearch(given))).toEqual(['state', 'answer', 'colour']);
  expect(unreadOf({ state: 'failed' }, webhooksSearch({ state: 'failed' }))).toEqual([]);
});
