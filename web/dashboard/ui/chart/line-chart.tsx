import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import { useLocale } from '../../locale.tsx';
import { Button } from '../button.tsx';
import { Card } from '../card.tsx';
import css from './line-chart.module.css';
import { niceTop } from './scale.ts';

export interface Point {
  readonly key: string;
  /** Its position, such as a day. */
  readonly label: string;
  /** Only for drawing. */
  readonly value: number;
  /** The value that it is compared with, drawn as a dashed line. */
  readonly before?: number;
  /** The value as text. */
  readonly text: string;
  /** A further column of the table. */
  readonly more: readonly string[];
}

interface LineChartProps {
  readonly title: string;
  /** A note on the labels. */
  readonly note: string;
  /** The table's headings: label, value and the further column. */
  readonly columns: readonly string[];
  /** At least two, from left to right. */
  readonly points: readonly Point[];
  readonly format: (value: number) => string;
}

const WIDTH = 1_000;
const HEIGHT = 200;
const LINES = [0, 1, 2, 3] as const;

/** A line over time, which can be read with the arrow keys and as a table. */
export function LineChart({ title, note, columns, points, format }: LineChartProps) {
  const { t } = useLocale();
  const [isTable, showTable] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const top = niceTop(Math.max(...points.map(({ value, before = 0 }) => Math.max(value, before))));
  const shown = points[at ?? points.length - 1];
  const point = ({ currentTarget, clientX }: PointerEvent): void => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setAt(Math.round(Math.min(1, Math.max(0, (clientX - left) / width)) * (points.length - 1)));
  };
  const walk = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setAt(Math.min(points.length - 1, Math.max(0, (at ?? points.length - 1) + step)));
  };
  return (
    <Card
      title={title}
      className={css.card}
      actions={
        <Button kind="quiet" small onClick={() => showTable(!isTable)}>
          {t(isTable ? 'show_chart' : 'show_table')}
        </Button>
      }
    >
      {isTable ? (
        <Table title={title} columns={columns} points={points} />
      ) : (
        <div className={css.drawn}>
          <p className={css.now} aria-live="polite">
            {shown === undefined ? null : (
              <>
                {shown.label} <b>{shown.text}</b>
              </>
            )}
            <span>{note}</span>
          </p>
          <div className={css.scaled}>
            <div className={css.scale} aria-hidden="true">
              {LINES.toReversed().map((one) => (
                <span key={one}>{format((top * one) / 3)}</span>
              ))}
            </div>
            <div
              className={css.frame}
              role="slider"
              tabIndex={0}
              aria-label={title}
              aria-valuemin={0}
              aria-valuemax={points.length - 1}
              aria-valuenow={at ?? points.length - 1}
              aria-valuetext={shown === undefined ? undefined : `${shown.label}: ${shown.text}`}
              onKeyDown={walk}
              onPointerMove={point}
              onPointerLeave={() => setAt(null)}
            >
              <Drawing points={points} top={top} at={at} />
            </div>
            <div className={css.marks} aria-hidden="true">
              <span>{points[0]?.label}</span>
              <span>{points[Math.floor(points.length / 2)]?.label}</span>
              <span>{points.at(-1)?.label}</span>
            </div>
          </div>
        </div>
      )}
    </Card>
  );
}

interface DrawingProps {
  readonly points: readonly Point[];
  /** The end of the scale. */
  readonly top: number;
  /** The index of the point at the crosshair. */
  readonly at: number | null;
}

function Drawing({ points, top, at }: DrawingProps) {
  const x = (index: number): number => (index / (points.length - 1)) * WIDTH;
  const y = (value: number): number => HEIGHT - (value / top) * HEIGHT;
  const through = (values: readonly number[]): string =>
    values.map((value, index) => `${x(index).toFixed(1)} ${y(value).toFixed(1)}`).join('L');
  const line = through(points.map(({ value }) => value));
  const isCompared = points.some(({ before }) => before !== undefined);
  return (
    <svg className={css.chart} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path className={css.area} d={`M0 ${HEIGHT}L${line}L${WIDTH} ${HEIGHT}Z`} />
      <path className={css.grid} d={LINES.map((one) => `M0 ${y((top * one) / 3)}H${WIDTH}`).join('')} />
      {isCompared ? <path className={css.before} d={`M${through(points.map(({ before = 0 }) => before))}`} /> : null}
      <path className={css.line} d={`M${line}`} />
      {at === null ? null : <path className={css.cross} d={`M${x(at)} 0V${HEIGHT}`} />}
    </svg>
  );
}

function Table({ title, columns, points }: Omit<LineChartProps, 'format' | 'note'>) {
  return (
    // Focusable, so that the keyboard can scroll it.
    <div className={css.table} role="group" tabIndex={0} aria-label={title}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map(({ key, label, text, more }) => (
            <tr key={key}>
              <td>{label}</td>
              <td>{text}</td>
              {more.map((value, index) => (
                <td key={columns[index + 2]}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
