/** Icons that only the till has, drawn like those of `ui/icons.tsx`, whose script every page loads. */
const PATHS = {
  backspace: 'M7 4.500h10a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H7L2 10zM9.500 7.750l4.500 4.500m0-4.500-4.500 4.500',
  mute: 'M3 8h3l4-3.500v11L6 12H3zM13 8l4 4m0-4-4 4',
  sound: 'M3 8h3l4-3.500v11L6 12H3zM13 7.500a3.500 3.500 0 0 1 0 5m2-7.500a7 7 0 0 1 0 10',
} as const;

export function TillIcon({ name, size }: { readonly name: keyof typeof PATHS; readonly size: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
