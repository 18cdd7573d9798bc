import type { TextsLike } from './en.ts';
import type { enHome } from './en-home.ts';

export const deHome: TextsLike<typeof enHome> = {
  by_currency: 'Nach Währung',
  by_token: 'Nach Coin',
  compared_before: 'Die gestrichelte Linie ist dieselbe Zeit davor.',
  first_day: 'Erster Tag',
  last_day: 'Letzter Tag',
  median: 'Mittlere Zeit bis zum Abschluss',
  no_completed: 'In dieser Zeit wurde nichts abgeschlossen.',
  nothing_before: 'nichts in den {days} Tagen davor',
  nothing_day_before: 'nichts am Tag davor',
  range_1d: 'Heute',
  range_30d: 'Letzte 30 Tage',
  range_365d: 'Letzte 365 Tage',
  range_7d: 'Letzte 7 Tage',
  range_90d: 'Letzte 90 Tage',
  range_custom: 'Andere Tage…',
  same_before: 'wie in den {days} Tagen davor',
  same_day_before: 'wie am Tag davor',
  shown_range:
    '{from} bis {to}, verglichen mit ebenso vielen Tagen davor. Beträge in anderen Währungen zählen zum Kurs ihrer Erstellung.',
  than_before: 'als in den {days} Tagen davor',
  than_day_before: 'als am Tag davor',
  volume_a_hour: 'Umsatz je Stunde',
  volume_a_week: 'Umsatz je Woche',
  volume_before: 'Umsatz davor',
};
