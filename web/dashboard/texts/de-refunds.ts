import type { enRefunds } from './en-refunds.ts';
import type { TextsLike } from './en.ts';

export const deRefunds: TextsLike<typeof enRefunds> = {
  refunds_intro: 'Geld, das an Kunden zurückgeht.',
};
