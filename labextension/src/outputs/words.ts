import type { TranslationBundle } from '@jupyterlab/translation';
import type { ICommandView } from '../commands/detailModel';
import { timeTaken } from '../commands/words';
import { hasEnded, type ICommand } from '../service/records/commands';
import { count, firstLine, typeWord } from '../words';

/** Return the line of a command, in the words that the kernel uses for its own; empty while nothing is known of it. */
export function factsOf(trans: TranslationBundle, view: ICommandView, now: Date): string {
  const { command } = view;
  if (command === null) {
    return '';
  }
  const facts = hasEnded(command)
    ? endOf(trans, command, view, now)
    : progressOf(trans, command, view, now);
  return [trans.__('command %1', command.id), ...facts].filter(fact => fact !== '').join(' · ');
}

/** Return the first line of what a kernel wrote last; the kernel that could be interrupted is gone. */
export function savedFacts(text: string): string {
  const facts = text.split('\n', 1)[0]?.split(' · ') ?? [];
  return facts.filter(fact => !fact.startsWith('interrupt to ')).join(' · ');
}

function progressOf(
  trans: TranslationBundle,
  command: ICommand,
  { rowsSoFar }: ICommandView,
  now: Date
): string[] {
  const { status, label, message, progress } = command;
  const why = (message ?? '').replace(/\s+/g, ' ').trim();
  const waiting =
    command.throttled === true ? trans.__('waiting for a free slot') : trans.__('waiting');
  const running = label ? trans.__('running on %1', label) : trans.__('running');
  const state = status === 'waiting' ? why || waiting : why ? `${running} (${why})` : running;
  const size = rowsSoFar ? rowWords(trans, rowsSoFar) : progress > 0 ? `${progress} %` : '';
  return [typeWord(trans, command.command_type), state, timeTaken(trans, command, now), size];
}

function endOf(
  trans: TranslationBundle,
  command: ICommand,
  { result }: ICommandView,
  now: Date
): string[] {
  const { status, message } = command;
  const took = timeTaken(trans, command, now);
  if (status === 'done') {
    return [
      took || trans.__('done'),
      result?.kind === 'rows' ? sizeOf(trans, result.rows.state) : firstLine(message)
    ];
  }
  const word = status === 'cancelled' ? trans.__('cancelled') : trans.__('failed');
  return [word, took, status === 'cancelled' ? '' : firstLine(message)];
}

function sizeOf(
  trans: TranslationBundle,
  { of, columns }: { of: number; columns: readonly { name: string }[] }
): string {
  if (columns.length === 1 && columns[0]?.name === 'line') {
    return trans._n('%2 line', '%2 lines', of, count(of));
  }
  const wide = trans._n('%2 column', '%2 columns', columns.length, count(columns.length));
  return `${rowWords(trans, of)} × ${wide}`;
}

function rowWords(trans: TranslationBundle, rows: number): string {
  return trans._n('%2 row', '%2 rows', rows, count(rows));
}
