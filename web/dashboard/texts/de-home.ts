import type { TextsLike } from './en.ts';
import type { enHome } from './en-home.ts';

export const deHome: TextsLike<typeof enHome> = {
  by_currency: 'Nach Währung',
  by_token: 'Nach Coin',
  compared_before: 'Gestrichelt: die Zeit davor.',
  conversion_of: '{completed} von {ended} beendeten',
  first_day: 'Erster Tag',
  last_day: 'Letzter Tag',
  median: 'Median der Dauer',
  median_of: 'Anlegen bis Abschluss',
  no_completed: 'In dieser Zeit wurde nichts abgeschlossen.',
  nothing_before: 'davor nichts',
  range_1d: 'Heute',
  range_30d: 'Letzte 30 Tage',
  range_365d: 'Letzte 365 Tage',
  range_7d: 'Letzte 7 Tage',
  range_90d: 'Letzte 90 Tage',
  range_custom: 'Andere Tage…',
  same_before: 'wie davor',
  shown_range:
    '{from} bis {to}, verglichen mit den {days} Tagen davor. Zahlungen in anderen Währungen zählen zum USD-Kurs bei ihrer Erstellung.',
  shown_day:
    '{day}, verglichen mit dem Tag davor. Zahlungen in anderen Währungen zählen zum USD-Kurs bei ihrer Erstellung.',
  volume_a_hour: 'Umsatz je Stunde',
  volume_a_week: 'Umsatz je Woche',
  volume_before: 'Umsatz davor',
};
