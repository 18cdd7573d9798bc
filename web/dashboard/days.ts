/** When a day such as 2026-11-22 begins in the person's time zone; null if there is no such day. */
export function startOfDay(day: string, later = 0): Date | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (year === undefined) return null;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later);
  // February 31st is read as a day of March.
  const read = new Date(Number(year), Number(month) - 1, Number(date));
  const isReal = read.getMonth() === Number(month) - 1 && read.getDate() === Number(date);
  return isReal && Number(year) >= 1970 ? start : null;
}
