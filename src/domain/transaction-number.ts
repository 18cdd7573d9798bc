/** The number that people see: `TXN-<UTC year>-<sequence>`, the sequence padded to six digits. */
export function formatTransactionNumber(year: number, sequence: number): string {
  return `TXN-${year}-${String(sequence).padStart(6, '0')}`;
}
