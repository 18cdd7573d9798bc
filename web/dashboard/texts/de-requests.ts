import type { TextsLike } from './en.ts';
import type { enRequests } from './en-requests.ts';

export const deRequests: TextsLike<typeof enRequests> = {
  request_any_key: 'Alle Schlüssel',
  request_any_method: 'Jede Methode',
  request_any_outcome: 'Alle Aufrufe',
  request_any_status: 'Jeder Status',
  request_call: 'Aufruf',
  request_client: 'Client',
  request_client_hidden: 'Wird bei öffentlichen Schlüsseln, die Kunden verwenden, nicht aufbewahrt',
  request_duration: 'Dauer',
  request_duration_ms: '{ms} ms',
  request_field: 'Feld',
  request_heading: 'Anfrage',
  request_id: 'Anfrage-ID',
  request_key: 'Schlüssel',
  request_kept_text:
    'Aufrufe der letzten 30 Tage mit einem Schlüssel dieses Projekts: alle abgelehnten und alle, die etwas ändern, und von den übrigen Lesezugriffen bis zu fünf je Sekunde. Inhalte und Abfrageparameter werden nicht aufbewahrt.',
  request_method: 'Methode',
  request_none_text: 'Aufrufe der API mit einem Schlüssel dieses Projekts erscheinen hier nach wenigen Sekunden.',
  request_none_title: 'Noch keine Anfragen',
  request_no_match: 'Keine Anfrage passt zu allen Filtern.',
  request_outcome: 'Ergebnis',
  request_outcome_accepted: 'Angenommen',
  request_outcome_refused: 'Abgelehnt',
  request_path: 'Pfad beginnt mit',
  request_program: 'Programm',
  request_status: 'Status',
  request_time: 'Zeit',
  request_why: 'Warum sie abgelehnt wurde',
  request_why_failed: 'Warum sie gescheitert ist',
};
