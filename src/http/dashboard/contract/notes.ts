import { Type, type Static } from 'typebox';
import { nullable, time } from '../../shapes.ts';

export const noteShape = Type.Object({
  id: Type.String(),
  /** The author's e-mail address when it was written. */
  author: Type.String(),
  text: Type.String(),
  created_at: time(),
  edited_at: nullable(time()),
  /** Sent back with an edit, which is refused if another edit came first. */
  version: Type.Integer(),
  can: Type.Object({ edit: Type.Boolean(), delete: Type.Boolean() }),
});
export type NoteView = Static<typeof noteShape>;
