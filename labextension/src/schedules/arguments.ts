import type { Arguments, INotebookCommand } from '../service/records/schedules';

/** Return the arguments of a command: an object, of a note the JSON text of one. Options of spark-submit are none. */
export function argumentsIn({ arguments: given, note_id: note }: INotebookCommand): Arguments {
  if (typeof given !== 'string') {
    return given ?? {};
  }
  return note && given !== '' ? (JSON.parse(given) as Arguments) : {};
}
