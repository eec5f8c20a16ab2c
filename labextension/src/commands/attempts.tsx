import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import {
  type CommandStatus,
  hasEnded,
  type IAttempt,
  type ICommand,
  secondsTaken
} from '../service/records/commands';
import { elapsed, timeText } from '../words';
import { momentOf, statusWords, toneOf } from './words';

/** How each attempt of a command ended; nothing while there was one only. */
export function Attempts(props: {
  command: ICommand;
  now: Date;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { command, now, trans } = props;
  const attempts = command.attempts ?? [];
  if (attempts.length < (hasEnded(command) ? 2 : 1)) {
    return null;
  }
  return (
    <section className="jp-SvcAttempts" aria-label={trans.__('Attempts')}>
      <h3>{trans.__('Attempts')}</h3>
      <ol>
        {attempts.map((attempt, index) => {
          const status = endOf(command, index);
          return (
            <li key={attempt.number}>
              <span className={`jp-SvcTone jp-mod-${toneOf(status)}`}>
                <span className="jp-SvcTone-icon" aria-hidden="true">
                  {statusWords(status, trans).icon}
                </span>{' '}
                {statusWords(status, trans).word}
              </span>
              {' · '}
              {attemptFacts(trans, attempt, now)}
              {attempt.message !== null && <pre>{attempt.message}</pre>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Return how an attempt ended: all failed but the last one of a command that did not. */
function endOf({ attempts = [], status }: ICommand, index: number): CommandStatus {
  return index === attempts.length - 1 && status !== 'running' && status !== 'waiting'
    ? status
    : 'error';
}

function attemptFacts(trans: TranslationBundle, attempt: IAttempt, now: Date): string {
  const { start_time: start } = attempt;
  const seconds = secondsTaken(attempt);
  return [
    start === null ? '' : timeText(momentOf(start), now, { seconds: true }),
    seconds === null ? '' : elapsed(trans, seconds)
  ]
    .filter(Boolean)
    .join(' · ');
}
