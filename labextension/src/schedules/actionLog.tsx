import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useContext, useEffect, useRef, useState } from 'react';
import { CommandFollower, type ServiceRequests, VisibleContext } from '../service';

/** Maximum number of characters kept of a log, its end. */
export const KEPT_CHARACTERS = 500_000;

/** The live log of an action's command. */
export function ActionLog(props: {
  requests: ServiceRequests;
  commandId: number;
  label: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { requests, commandId, label, trans } = props;
  const visible = useContext(VisibleContext);
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isRead, setRead] = useState(false);
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!visible) {
      return;
    }
    setText('');
    setRead(false);
    const follower = new CommandFollower(requests, commandId, { withLog: true });
    follower.logged.connect((_, part) =>
      setText(before => (before + part).slice(-KEPT_CHARACTERS))
    );
    follower.skipped.connect(() => setText(before => `${before}\n…\n`));
    follower.changed.connect(() => setProblem(follower.error?.message ?? null));
    void follower.finished.then(() => setRead(true));
    return () => follower.dispose();
  }, [requests, commandId, visible]);
  useEffect(() => {
    const node = box.current;
    if (node && node.scrollHeight - node.scrollTop - node.clientHeight < 3 * node.clientHeight) {
      node.scrollTop = node.scrollHeight;
    }
  }, [text]);
  return (
    <section className="jp-SvcLog" aria-label={label}>
      <h3>{label}</h3>
      {problem !== null && <p role="alert">✗ {problem}</p>}
      {text.length === KEPT_CHARACTERS && (
        <p>{trans.__('The beginning is left out: it is in the command’s own view.')}</p>
      )}
      <pre ref={box} tabIndex={0} aria-label={label}>
        {text === '' && isRead ? trans.__('The log is empty.') : text}
      </pre>
    </section>
  );
}
