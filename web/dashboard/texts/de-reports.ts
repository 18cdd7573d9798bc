import type { enReports } from './en-reports.ts';
import type { TextsLike } from './en.ts';

export const deReports: TextsLike<typeof enReports> = {
  reports_intro: 'Zahlen für die Buchhaltung, für jeden Zeitraum.',
};
