import type { enSettings } from './en-settings.ts';
import type { TextsLike } from './en.ts';

export const deSettings: TextsLike<typeof enSettings> = {
  settings_intro: 'Wie Kunden dieses Projekt sehen, und seine Vorgaben.',
};
