import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useLayoutEffect, useRef } from 'react';
import { hasEnded } from '../service/records/commands';
import type { CommandDetailModel, ICommandView } from './detailModel';
import { SavedWhole } from './saving';
import '../../style/commandTexts.css';

/** The end of a command's log, which stays in view while the log grows. */
export function CommandLog(props: {
  model: CommandDetailModel;
  view: ICommandView;
  title: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, view, title, trans } = props;
  const { text, isCut } = view.log;
  const node = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (node.current !== null && isAtEnd.current) {
      node.current.scrollTop = node.current.scrollHeight;
    }
  }, [text]);
  return (
    <section className="jp-SvcCommand-log">
      <div className="jp-SvcCommand-textHead">
        <h3>{title}</h3>
        {text !== '' && (
          <SavedWhole
            note={isCut ? trans.__('Earlier lines are left out.') : ''}
            label={trans.__('Download the log')}
            fileName={`command-${model.id}.log`}
            read={() => model.wholeLog()}
            trans={trans}
          />
        )}
      </div>
      <pre
        ref={node}
        role="log"
        tabIndex={0}
        aria-label={title}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 4;
        }}
      >
        {text === '' ? noLog(view, trans) : text}
      </pre>
    </section>
  );
}

function noLog({ command, isLogRead, logError }: ICommandView, trans: TranslationBundle): string {
  if (command !== null && !hasEnded(command)) {
    return trans.__('Nothing yet.');
  }
  return isLogRead
    ? (logError?.message ?? trans.__('The log is empty.'))
    : trans.__('Reading the log …');
}
