import { describe, expect, it } from 'vitest';
import {
  bigint,
  bytes,
  changing,
  defaulted,
  named,
  nullable,
  text,
  timestamp,
  units,
  usually,
  uuid,
} from './column.ts';
import { recordTable } from './record-table.ts';

const JOURNEYS = recordTable(
  'journeys',
  {
    journey: {
      id: uuid(),
      left_at: timestamp(),
      goal: changing(nullable(text())),
      ticket: bytes(),
    },
    luggage: { weight_units: changing(named('units', usually(units(), 0n))) },
  },
  { number: defaulted(bigint()) },
);

const journey = { id: 'a-1', leftAt: Date.UTC(2026, 0, 31), goal: null, ticket: Buffer.from([1, 255]) };

describe('a table of records', () => {
  it('names in its statements every column of its map, and none that is left alone', () => {
    expect(JOURNEYS.names).toEqual(['id', 'left_at', 'goal', 'ticket', 'weight_units']);
    const list = 'id, left_at, goal, ticket, weight_units';
    const base = `json_populate_record(null::journeys, '{"weight_units":"0"}')`;
    expect(JOURNEYS.insert('$1')).toBe(
      `insert into journeys (${list}) select ${list} from json_populate_recordset(${base}, $1::json)`,
    );
    expect(Object.keys(JOURNEYS.columns)).toEqual([...JOURNEYS.names, 'number']);
  });

  it('updates what changes and nothing else', () => {
    expect(JOURNEYS.update('$2')).toMatch(
      /^update journeys set goal = n\.goal, weight_units = n\.weight_units from .* n where journeys\.id = n\.id$/,
    );
    expect(JOURNEYS.setExcluded).toBe('goal = excluded.goal, weight_units = excluded.weight_units');
  });

  it('leaves out of records what is null or usual, and says all else exactly', () => {
    const goal = 'Zürich "HB" \\ \u2028';
    const records = JOURNEYS.records([
      { journey, luggage: { units: 0n } },
      { journey: { ...journey, goal }, luggage: { units: 10n ** 77n } },
    ]);
    const withoutEmpty = { id: 'a-1', left_at: '2026-01-31T00:00:00.000Z', ticket: '\\x01ff' };
    expect(JSON.parse(records)).toEqual([withoutEmpty, { ...withoutEmpty, goal, weight_units: `1${'0'.repeat(77)}` }]);
    expect(JOURNEYS.records([])).toBe('[]');
  });

  it('reads a row into the objects that it keeps', () => {
    const row = { id: 'a-1', left_at: 5, goal: null, ticket: Buffer.from([7]), weight_units: 3n };
    expect(JOURNEYS.read(row)).toEqual({
      journey: { id: 'a-1', leftAt: 5, goal: null, ticket: Buffer.from([7]) },
      luggage: { units: 3n },
    });
  });
});
