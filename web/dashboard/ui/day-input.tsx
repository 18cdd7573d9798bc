interface DayInputProps {
  /** The accessible name, unless a label is around it. */
  readonly label?: string;
  /** What its label names, where that stands above it. */
  readonly id?: string;
  readonly value: string;
  readonly min?: string;
  readonly max?: string;
  readonly onDay: (day: string) => void;
}

/** A field for a day, such as 2026-01-31; empty while it is being typed. */
export function DayInput({ label, onDay, ...rest }: DayInputProps) {
  return (
    <input {...rest} type="date" aria-label={label} onChange={({ currentTarget }) => onDay(currentTarget.value)} />
  );
}
