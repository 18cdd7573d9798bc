/** The paths of every icon, drawn with one stroke in a square of 20. */
const PATHS = {
  'arrow-down': 'M10 4v11.5M5 11l5 5 5-5',
  'arrow-right': 'M4 10h11.5M11 5l5 5-5 5',
  'arrow-up': 'M10 16V4.5M5 9l5-5 5 5',
  bolt: 'M11 2.5 4.5 11.5H10l-1 6 6.5-9H10z',
  check: 'm4.5 10.5 3.75 3.75L15.5 6.5',
  'check-circle': 'M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15Zm-3.25-7.25L9 12.5l4.25-4.75',
  'chevron-down': 'm5.5 8 4.5 4.5L14.5 8',
  'chevron-right': 'M8 5.5l4.5 4.5L8 14.5',
  close: 'm5 5 10 10M15 5 5 15',
  copy: 'M7.5 7.5v-3a1 1 0 0 1 1-1h7a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-3m-8-5h7a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1Z',
  dots: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  external: 'M8 4.5H4.5a1 1 0 0 0-1 1v10a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V12M11.5 3.5h5v5m0-5L9 11',
  filter: 'M3 5h14M5.5 10h9M8.5 15h3',
  flask: 'M7.5 2.5h5m-4 0v5l-4.6 7.6a1.6 1.6 0 0 0 1.4 2.4h9.4a1.6 1.6 0 0 0 1.4-2.4L11.5 7.500v-5M6.500 12.500h7',
  home: 'm3 9 7-6 7 6v7a1 1 0 0 1-1 1h-3.5v-5h-5v5H4a1 1 0 0 1-1-1z',
  info: 'M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15Zm0-8.250V13.500m0-7h.01',
  invoice: 'M5 2.500h7.500L16 6v10.500a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1ZM7 9h6m-6 3h6',
  key: 'M7 16.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm2.75-6.750L16.500 3m-3.500 3.500 2.500 2.500',
  keyboard:
    'M3 5h14a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1Zm2.500 3.250h.01m2.990 0h.01m2.990 0h.01m2.990 0h.01M7 11.750h6',
  menu: 'M3 5.500h14M3 10h14M3 14.500h14',
  offline: 'm3 3 14 14M6 8.400A4 4 0 0 0 6 16h9m2.600-1.800A3.250 3.250 0 0 0 15 9.500 5 5 0 0 0 9 5.600',
  payments:
    'M3.500 4.500h13a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1Zm-1 3.750h15M5.500 12.250h3',
  phone: 'M6.5 2.5h7a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1ZM9 15h2',
  plus: 'M10 4v12m-6-6h12',
  refresh: 'M16.500 10a6.500 6.500 0 1 1-2-4.700M16.500 3v3.500H13',
  refund: 'M7.5 4.5 4 8l3.5 3.5M4.500 8h8a3.750 3.750 0 0 1 0 7.500H8',
  report:
    'M5 2.500h7.500L16 6v10.500a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1Zm2.500 11.500v-3m2.750 3V8.500M13 14v-1.500',
  wallet:
    'M16.500 7.500v-2a1 1 0 0 0-1-1h-11a1.500 1.500 0 0 0 0 3h12a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-12A1.500 1.500 0 0 1 3 15V6m10.750 6h.01',
  sweep: 'M10 3v9m0 0 3.500-3.500M10 12 6.500 8.500M3.500 13v2.500a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1V13',
  settings: 'M3 6h8m4 0h2M3 14h2m4 0h8M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12Zm4.250-1.750L17 17',
  shield: 'm10 2.500 6 2v5c0 4-2.600 6.700-6 8-3.400-1.300-6-4-6-8v-5zm-2.500 7.250L9.250 11.500 12.750 8',
  'sign-out':
    'M12 4.500v-1a1 1 0 0 0-1-1H4.500a1 1 0 0 0-1 1v13a1 1 0 0 0 1 1H11a1 1 0 0 0 1-1v-1M8 10h9.500m-3-3.250L17.750 10l-3.250 3.250',
  users:
    'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2 16.500a5.500 5.500 0 0 1 11 0M13 4a3 3 0 0 1 0 5.500m2 2.500a5.500 5.500 0 0 1 3 4.500',
  user: 'M10 10a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Zm-6.500 7a6.500 6.500 0 0 1 13 0',
  webhook:
    'M7.500 8.500a3.250 3.250 0 1 1 4.700-2.900c0 .900-.300 1.600-.800 2.200l2.600 4.700M10 15h5.250a2.750 2.750 0 1 0-1.250-5.200M9.250 5.750 6.400 10.900A2.750 2.750 0 1 0 8 14.500',
  list: 'M7 5h10M7 10h10M7 15h10M3 5h.01M3 10h.01M3 15h.01',
  terminal: 'm4 6 4 4-4 4m6 0h6',
  warning: 'M10 3 2.250 16.250h15.500zM10 8v4m0 2.250h.01',
} as const;

export type IconName = keyof typeof PATHS;

interface IconProps {
  readonly name: IconName;
  /** Height and width in pixels. */
  readonly size?: number;
  readonly className?: string | undefined;
}

/** A decorative icon, hidden from screen readers. */
export function Icon({ name, size = 18, className }: IconProps) {
  return (
    <svg
      className={className}
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'dots' ? 2.6 : 1.6}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
