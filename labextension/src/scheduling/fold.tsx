import { type JSX, type ReactNode, useContext, useEffect, useState } from 'react';
import { PaintedContext } from './painting';

/** A collapsible part of a form; it stays open while something in it is wrong. */
export function Fold(props: {
  title: string;
  summary: string;
  open: boolean;
  /** How often the form was sent in vain: each time it opens again if it has to be. */
  refusals: number;
  children: ReactNode;
}): JSX.Element {
  const [isOpen, setOpen] = useState(props.open);
  const isPainted = useContext(PaintedContext);
  useEffect(() => {
    if (props.open) {
      setOpen(true);
    }
  }, [props.open, props.refusals]);
  return (
    <details
      className="jp-SvcFold"
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>
        {props.title} <span className="jp-SvcMuted">{props.summary}</span>
      </summary>
      <div className="jp-SvcFold-content">{(isOpen || isPainted) && props.children}</div>
    </details>
  );
}
